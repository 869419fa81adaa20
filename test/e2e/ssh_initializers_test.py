"""Initializers on hosts that have Python and nothing of ours: each host fetches once."""

from dataclasses import replace
from pathlib import Path

import pytest
from initializer_job import FETCHED, MODEL, said, train_job, written
from s3_server import S3Server
from ssh_pool import ON, SshPool

from trainway.data.hub_testing import PretendedHub, served

pytestmark = pytest.mark.xdist_group("ssh")


def test_every_host_has_the_data_and_the_next_job_fetches_nothing(
    ssh_pool: SshPool, tmp_path: Path
) -> None:
    this_machine = f"{ssh_pool.hosts.hosts[0].address.rpartition('.')[0]}.1"
    data = tmp_path / "data" / "part"
    data.mkdir(parents=True)
    (data / "a.txt").write_bytes(b"12345")
    with served(PretendedHub(MODEL), this_machine) as hub:
        for name in ("first", "second"):
            job = train_job(name, None, f"file://{data.parent}", hub)
            printed = ssh_pool.run("run", written(tmp_path, job), "--on", ON)
            for rank in range(2):
                assert said(printed, f"node-{rank}") == FETCHED, printed

    hosts = {
        host
        for job in ssh_pool.json("jobs", "list", "--all")["items"]
        for placed in ssh_pool.placements(job["metadata"]["id"])
        for pod, host in placed.items()
        if not pod.startswith("dataset")
    }
    assert len(hosts) > 1
    assert len(hub.ranges) == len(hosts) * len(set(hub.ranges))


def test_what_hosts_have_written_is_exported(ssh_pool: SshPool, s3_server: S3Server) -> None:
    bucket = s3_server.bucket("hosts")
    user = replace(ssh_pool, variables={**ssh_pool.variables, **s3_server.variables()})
    writes = 'echo $JOB_COMPLETION_INDEX > "$TRAINWAY_OUTPUT_DIR/rank-$JOB_COMPLETION_INDEX"'
    words = ("--on", ON, "--nodes", "2", "--export", "s3://hosts/run")

    user.run("run", *words, "--", "sh", "-c", writes)

    assert sorted(path.name for path in (bucket / "run").iterdir()) == ["rank-0", "rank-1"]
