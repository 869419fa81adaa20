from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trainway.api.manifest import parse_manifests
from trainway.api.model import ObjectMeta
from trainway.compiler.testing import role, runtime
from trainway.json_types import Json
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.runtime_snapshot import (
    parsed_runtime,
    parsed_snapshot,
    runtime_text,
    snapshot,
    snapshot_text,
)
from trainway.runtimes import builtin_runtimes

REF = {"name": "some-runtime", "apiGroup": "trainer.kubeflow.org", "kind": "ClusterTrainingRuntime"}


def live() -> Json:
    odd: Json = {"args": ["yes", "1", "2026-01-01T00:00:00Z", "a: b", "#", "käse\n", "~", "0o7"]}
    found = runtime({"torch": {}}, role(**odd))
    found["metadata"] |= {"uid": "R", "resourceVersion": "5", "managedFields": [{"a": 1}]}
    return found


def test_the_whole_runtime_comes_back_from_its_text() -> None:
    expected = live()
    del expected["metadata"]["managedFields"]
    assert parse_manifests(runtime_text(live())) == [expected]
    parsed = parsed_snapshot(runtime_text(live()), REF)
    assert parsed == parsed_runtime(expected)


@given(text=st.text(st.characters(codec="utf-8"), max_size=12))
@example(text="0o7")
@example(text="1e3")
@example(text="y")
@example(text=".5")
@example(text="=")
@example(text="a\u0085b\u2028c")
def test_every_text_stays_a_text(text: str) -> None:
    found = {**live(), "spec": {text: text}}
    assert parse_manifests(runtime_text(found))[0]["spec"] == {text: text}


@pytest.mark.parametrize("found", builtin_runtimes(), ids=lambda found: found["metadata"]["name"])
def test_every_built_in_runtime_comes_back(found: Json) -> None:
    assert parse_manifests(runtime_text(found)) == [found]


def test_the_config_map_belongs_to_the_trainjob() -> None:
    owner = ObjectMeta(name="t", namespace="ns", uid="U")
    made = snapshot(owner, "text")
    assert (made["metadata"]["name"], made["metadata"]["namespace"]) == (
        "t-runtime-snapshot",
        "ns",
    )
    assert made["metadata"]["ownerReferences"][0]["uid"] == "U"
    assert snapshot_text(made) == "text"


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    message: str


OTHER = runtime_text({**live(), "kind": "TrainingRuntime", "metadata": {"name": "x"}})

CASES = [
    Case(
        "no YAML",
        "a: b: c",
        "invalid runtime snapshot: unable to unmarshal the snapshot: line 1, column 5",
    ),
    Case(
        "nothing",
        "",
        "invalid runtime snapshot: unable to unmarshal the snapshot: there are 0 objects in it",
    ),
    Case(
        "another runtime",
        OTHER,
        "invalid runtime snapshot: the snapshot refers to the wrong runtime: expecting a runtime"
        ' with name, api group and kind of "some-runtime", "trainer.kubeflow.org",'
        ' "ClusterTrainingRuntime" but found runtime with name, api group and kind of "x",'
        ' "trainer.kubeflow.org", "TrainingRuntime"',
    ),
    Case(
        "a runtime that our model does not know",
        runtime_text({**live(), "spec": {"mlPolicy": {"torch": {"later": 1}}}}),
        "runtime cannot be read: spec.mlPolicy.torch.later: ",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_snapshot_that_cannot_be_used_says_why(case: Case) -> None:
    with pytest.raises(BuildError) as raised:
        parsed_snapshot(case.text, REF)
    assert raised.value.message.startswith(case.message)
    assert "\n" not in raised.value.message


def test_a_config_map_without_the_key_says_so() -> None:
    with pytest.raises(BuildError, match='missing "runtime" data key'):
        snapshot_text({"data": {"other": ""}})
    with pytest.raises(BuildError, match='missing "runtime" data key'):
        snapshot_text({})
