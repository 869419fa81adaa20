"""JobSets that are run with `--on ssh/test` end as recorded on a real Kubernetes."""

from typing import Any, Final

import pytest
from jobset_comparison import CASES, NAMES, Comparison
from ssh_pool import ON, SshPool, until

LITERAL: Final = ("gang-of-four", "what-a-container-is-told")

pytestmark = [
    pytest.mark.xdist_group("ssh"),
    pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance here"),
]


def test_jobsets_behave_as_recorded(ssh_pool: SshPool) -> None:
    placed: dict[str, list[dict[str, str]]] = {}
    jobs: set[str] = set()

    def look(job: dict[str, Any]) -> None:
        jobs.add(job["metadata"]["id"])
        placed[job["metadata"]["name"]] = ssh_pool.placements(job["metadata"]["id"])

    assert Comparison(ssh_pool, ON).differences(NAMES, look) == {}

    names = {host.name for host in ssh_pool.hosts.hosts}
    assert [set(hosts.values()) for hosts in placed["gang-of-four"]] == [names]
    everywhere = [host for each in placed.values() for hosts in each for host in hosts.values()]
    assert set(everywhere) == names
    assert len(jobs) == len(NAMES)
    until(lambda: not any(ssh_pool.left_on_hosts(job) for job in jobs), "something is left")


def test_the_comparison_itself_agrees_over_the_command_line(ssh_pool: SshPool) -> None:
    with Comparison(ssh_pool, ON).literally(*LITERAL):
        pass
