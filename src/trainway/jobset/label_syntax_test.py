from dataclasses import dataclass

import pytest

from trainway.jobset.label_syntax import label_problem


@dataclass(frozen=True)
class Case:
    key: str
    value: str
    problem: str | None


CASES = [
    Case("team", "nlp", None),
    Case("team", "", None),
    Case("example.com/Team_1.x", "A-b_c.9", None),
    Case("a" * 63, "b" * 63, None),
    Case("", "x", "the key ''"),
    Case("a" * 64, "x", "the key"),
    Case("-team", "x", "the key '-team'"),
    Case("te am", "x", "the key 'te am'"),
    Case("täm", "x", "the key"),
    Case("team", "b" * 64, "the value"),
    Case("team", "n l p", "the value 'n l p'"),
    Case("team", "nlp-", "the value 'nlp-'"),
    Case("Example.com/team", "x", "the prefix of the key"),
    Case("/team", "x", "the prefix of the key"),
    Case("a/b/c", "x", "the prefix of the key"),
    Case("trainway.dev/cluster", "x", "is reserved"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.key[:20]}={case.value[:20]}")
def test_labels_follow_the_rules_of_kubernetes(case: Case) -> None:
    found = label_problem(case.key, case.value)
    assert (found is None) == (case.problem is None)
    assert (case.problem or "") in (found or "")
