from dataclasses import dataclass

import pytest

from trainway.cli.sky_place import place_of
from trainway.errors import UsageError


@dataclass(frozen=True)
class Case:
    infra: str | None
    cloud: str | None
    region: str | None
    zone: str | None
    place: str | None


@pytest.mark.parametrize(
    "case",
    [
        Case(None, None, None, None, None),
        Case("ssh/lab", None, None, None, "ssh/lab"),
        Case("kubernetes/prod", None, None, None, "k8s/prod"),
        Case("any", None, None, None, "any"),
        Case(None, "Kubernetes", None, None, "k8s"),
        Case(None, "kubernetes", "prod", None, "k8s/prod"),
        Case(None, "slurm", "hpc", "gpu", "slurm/hpc/gpu"),
    ],
)
def test_a_place_is_named_by_parts(case: Case) -> None:
    assert place_of(case.infra, case.cloud, case.region, case.zone) == case.place


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("local", "slurm", None, None), "--infra cannot be combined with --cloud"),
        ((None, None, "hpc", None), "--region needs --cloud"),
        ((None, "slurm", None, "gpu"), "--zone needs --cloud and --region"),
    ],
)
def test_parts_that_name_no_place_are_refused(
    parts: tuple[str | None, str | None, str | None, str | None], message: str
) -> None:
    with pytest.raises(UsageError) as raised:
        place_of(*parts)
    assert raised.value.message == message
