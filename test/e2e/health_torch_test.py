"""The health check with a real torch: an all-reduce over the nodes before the job starts."""

from pathlib import Path

import pytest
from environments import TORCH, environment
from installation import installed

pytestmark = pytest.mark.engine


def test_the_torch_of_the_job_adds_up_numbers_over_its_nodes(tmp_path: Path) -> None:
    variables = environment(*TORCH).variables() | {"OMP_NUM_THREADS": "1"}
    with installed(tmp_path, variables) as home:
        words = ("--torch-check", "--nodes", "2", "--name", "checked")
        home.run("run", *words, "--", "python3", "-c", "print('trained')")
        said = home.run("jobs", "show", "checked")
    assert "network of 2 nodes (by torch with gloo): all well after " in said
