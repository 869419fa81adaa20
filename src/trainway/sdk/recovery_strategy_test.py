from dataclasses import dataclass

import pytest

from trainway.json_types import Json
from trainway.sdk.manifests import Wishes
from trainway.sdk.recovery_strategy import recovery_option
from trainway.sdk.tasks import run_objects


@dataclass(frozen=True)
class Case:
    name: str
    recovery: str
    given: str | None
    wanted: Json


CASES = [
    Case("nothing", "null", None, {}),
    Case("skypilots-name", "FAILOVER", None, {"recovery_strategy": "failover"}),
    Case("small-letters", "eager_next_region", None, {"recovery_strategy": "eager-next"}),
    Case("none", "none", None, {"recovery_strategy": "none"}),
    Case("in-a-record", "{strategy: FAILOVER}", None, {"recovery_strategy": "failover"}),
    Case("restarts-only", "{max_restarts_on_errors: 2}", None, {}),
    Case("given", "FAILOVER", "none", {"recovery_strategy": "none"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_task_says_what_follows_when_its_place_is_lost(case: Case) -> None:
    text = f"run: echo\nresources:\n  job_recovery: {case.recovery}\n"
    objects = run_objects(text, "task.yaml", Wishes())
    assert recovery_option(case.given, objects) == case.wanted


def test_without_a_task_nothing_is_asked_for() -> None:
    assert recovery_option(None, [{"kind": "JobSet"}]) == {}
