"""JobSets that are run with `--on slurm/test` end as recorded on a real Kubernetes."""

from typing import Final

import pytest
from jobset_comparison import CASES, DOZEN, NAMES, Comparison
from slurm_site import ON, SlurmSite

LITERAL: Final = ("gang-of-four", "what-a-container-is-told")

pytestmark = [
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance here"),
]


def test_jobsets_behave_as_recorded(slurm_site: SlurmSite) -> None:
    comparison = Comparison(slurm_site, ON, at_once=14)

    with comparison.literally(*LITERAL):
        differences = comparison.differences(sorted(set(DOZEN) - set(LITERAL)))

    assert differences == {}
    slurm_site.slurm.wait_until_empty()


@pytest.mark.conformance
def test_the_other_jobsets_behave_as_recorded(slurm_site: SlurmSite) -> None:
    others = sorted(set(NAMES) - set(DOZEN))

    assert Comparison(slurm_site, ON, at_once=14).differences(others) == {}

    slurm_site.slurm.wait_until_empty()
