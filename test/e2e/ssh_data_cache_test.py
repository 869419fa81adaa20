"""A data cache on SSH hosts: its workers are on several of them, and one loses its processes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cache_processes import numbered_table, ready_cache
from installation import kill, processes_of
from ssh_pool import ON, SshPool, pool_of

from ssh_hosts import SshHosts
from trainway.data.flight.client import cached_rows
from trainway.data.flight.reading import Part, Position, Wishes

pytestmark = pytest.mark.xdist_group("ssh")

ROWS = 8_000


@pytest.fixture
def pool(ssh_hosts: SshHosts, tmp_path: Path) -> Iterator[SshPool]:
    with pool_of(ssh_hosts, tmp_path / "pool") as pool:
        yield pool


def test_a_cache_on_hosts_is_read_though_its_processes_are_killed(
    pool: SshPool, tmp_path: Path
) -> None:
    table = numbered_table(tmp_path / "table", 4, ROWS)
    words = ["--workers", "2", "--on", ON, "--python", sys.executable]
    pool.run("cache", "apply", "words", table, *words)
    found = ready_cache(pool)
    assert (found["files"], found["rows"]) == (4, 4 * ROWS)
    assert found["bytes"] > 8 * ROWS
    rows = cached_rows(found["address"])
    tables = Position(Wishes(seed=1, window_rows=1024)).tables(rows, Part())
    seen = next(tables).column("id").to_pylist()
    for pid in processes_of(found["job"]):
        if b"trainway.data.flight" in Path(f"/proc/{pid}/cmdline").read_bytes():
            kill(pid)
    seen += [row for each in tables for row in each.column("id").to_pylist()]
    assert sorted(seen) == list(range(4 * ROWS))
    pool.run("cache", "delete", "words", "-y")
