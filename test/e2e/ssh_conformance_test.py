"""JobSets that are run with `--on ssh/test` end as recorded on a real Kubernetes, over four hosts.

The folder is `shared/conformance` beside the repository, and its own comparison decides. It asks
about each job three times a second; all but one test have it ask the server itself, since starting
a command each time would take all of this machine.
"""

import subprocess
import sys
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from installation import TRAINWAY
from jobset_comparison import CASES, PROGRAM, SETTLE_S, loaded
from ssh_pool import ON, SshPool

from trainway.sdk.address import Home
from trainway.sdk.rest import Rest

Json = dict[str, Any]

AT_ONCE: Final = 8
LITERAL: Final = ("gang-of-four", "what-a-container-is-told")

pytestmark = [
    pytest.mark.xdist_group("ssh"),
    pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance here"),
]


def test_jobsets_behave_as_recorded(ssh_pool: SshPool, monkeypatch: pytest.MonkeyPatch) -> None:
    ssh_pool.run("jobs", "list")
    for name, value in ssh_pool.environ().items():
        monkeypatch.setenv(name, value)
    comparison = loaded()
    found = Home(ssh_pool.home)
    rest = Rest.connect(str(found.address(found.server_info())))
    placed: dict[str, list[dict[str, str]]] = {}

    def status_of(_command: object, name: str) -> tuple[Json, None]:
        job = rest.get(name)
        placed[name] = ssh_pool.placements(job["metadata"]["id"])
        return job["status"]["jobSet"], None

    monkeypatch.setattr(comparison, "status_of", status_of)
    paths = sorted(CASES.glob("*.json"))
    how = Namespace(cmd=str(TRAINWAY), on=ON, image="none", timeout=90.0, settle=SETTLE_S)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        outcomes = threads.map(lambda path: comparison.run_case(path, how), paths)
        differences = {path.stem: found for path, found in zip(paths, outcomes, strict=True)}

    assert {name: lines for name, lines in differences.items() if lines} == {}
    names = {host.name for host in ssh_pool.hosts.hosts}
    assert [set(hosts.values()) for hosts in placed["gang-of-four"]] == [names]
    everywhere = [host for each in placed.values() for hosts in each for host in hosts.values()]
    assert set(everywhere) == names
    for job in ssh_pool.json("jobs", "list", "--all")["items"]:
        assert ssh_pool.left_on_hosts(job["metadata"]["id"]) == []


def test_the_comparison_itself_agrees_over_the_command_line(ssh_pool: SshPool) -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(PROGRAM),
            *("--cmd", str(TRAINWAY), "--on", ON),
            *(word for name in LITERAL for word in ("--case", name)),
            *("--settle", str(SETTLE_S), str(CASES)),
        ],
        env=ssh_pool.environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert f"{len(LITERAL)}/{len(LITERAL)} passed" in done.stdout
