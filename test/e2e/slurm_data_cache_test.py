"""A data cache on Slurm: an allocation with its head and workers, read from outside."""

import sys
from pathlib import Path

import pytest
from cache_processes import numbered_table, ready_cache
from slurm_site import ON, SlurmSite

from trainway.data.flight.client import cached_rows
from trainway.data.flight.reading import Part, Position, Wishes

pytestmark = pytest.mark.xdist_group("slurm")

ROWS = 8_000


def test_a_cache_is_an_allocation_that_jobs_read(slurm_site: SlurmSite, tmp_path: Path) -> None:
    table = numbered_table(tmp_path / "table", 4, ROWS)
    words = ["--workers", "2", "--on", ON, "--python", sys.executable]
    slurm_site.run("cache", "apply", "words", table, *words)
    found = ready_cache(slurm_site)
    assert (found["files"], found["rows"]) == (4, 4 * ROWS)
    assert found["bytes"] > 8 * ROWS

    rows = cached_rows(found["address"])
    tables = Position(Wishes(seed=1, window_rows=1024)).tables(rows, Part())
    seen = [row for each in tables for row in each.column("id").to_pylist()]

    assert sorted(seen) == list(range(4 * ROWS))
    slurm_site.run("cache", "delete", "words", "-y")
    assert slurm_site.json("cache", "ls") == []
