"""JobSets that are run with `--on ssh/test` end as recorded on a real Kubernetes."""

from collections.abc import Sequence
from typing import Any, Final

import pytest
from jobset_comparison import CASES, DOZEN, NAMES, Comparison
from ssh_pool import ON, SshPool, until

LITERAL: Final = ("gang-of-four", "what-a-container-is-told")

pytestmark = [
    pytest.mark.xdist_group("ssh"),
    pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance here"),
]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(DOZEN, id="dozen"),
        pytest.param(sorted(set(NAMES) - set(DOZEN)), id="rest", marks=pytest.mark.conformance),
    ],
)
def test_jobsets_behave_as_recorded(ssh_pool: SshPool, names: Sequence[str]) -> None:
    placed: dict[str, list[dict[str, str]]] = {}
    jobs: set[str] = set()

    def look(job: dict[str, Any]) -> None:
        jobs.add(job["metadata"]["id"])
        placed[job["metadata"]["name"]] = ssh_pool.placements(job["metadata"]["id"])

    assert Comparison(ssh_pool, ON).differences(names, look) == {}

    hosts = {host.name for host in ssh_pool.hosts.hosts}
    if "gang-of-four" in names:
        assert [set(each.values()) for each in placed["gang-of-four"]] == [hosts]
    assert placed.keys() == set(names)
    until(lambda: not any(ssh_pool.left_on_hosts(job) for job in jobs), "something is left")


def test_the_comparison_itself_agrees_over_the_command_line(ssh_pool: SshPool) -> None:
    with Comparison(ssh_pool, ON).literally(*LITERAL):
        pass
