"""The claims of volumes."""

from dataclasses import dataclass, replace

import pytest

from trainway.backends.claims import Claim
from trainway.backends.kubernetes.claims import claim_object, difference, is_ours, size_of
from trainway.jobset.quantity import Quantity

CLAIM = Claim("scratch", "10Gi", "ReadWriteOnce", storage_class="fast", labels={"team": "a"})


@dataclass(frozen=True)
class Case:
    wanted: Claim
    problem: str = ""


CASES = (
    Case(CLAIM),
    Case(replace(CLAIM, storage_class="")),
    Case(replace(CLAIM, size="20Gi")),
    Case(replace(CLAIM, size="1024Mi"), "it has 10Gi, and cannot be made smaller"),
    Case(replace(CLAIM, access_mode="ReadWriteMany"), "its access mode is ReadWriteOnce"),
    Case(replace(CLAIM, storage_class="slow"), "its storage class is fast"),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_cannot_be_changed_of_a_claim(case: Case) -> None:
    assert difference(claim_object(CLAIM, "team"), case.wanted) == case.problem


def test_a_claim_says_for_which_volume_it_was_made() -> None:
    found = claim_object(CLAIM, "team")
    assert found["metadata"] == {
        "name": "scratch",
        "namespace": "team",
        "labels": {"team": "a", "trainway.dev/volume": "scratch"},
    }
    assert found["spec"]["storageClassName"] == "fast"
    assert "storageClassName" not in claim_object(replace(CLAIM, storage_class=""), "x")["spec"]
    assert size_of(found) == Quantity.parse("10Gi")
    assert is_ours(found, CLAIM)
    assert not is_ours({"metadata": {}}, CLAIM)
    assert not is_ours(found, replace(CLAIM, name="other"))
