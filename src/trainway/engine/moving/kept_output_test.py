import shutil
from pathlib import Path

import pytest

from trainway.engine.moving.kept_output import put_back, set_aside


@pytest.mark.parametrize("name", ["output", "logs"])
def test_what_a_job_has_written_survives_its_removal(tmp_path: Path, name: str) -> None:
    output = tmp_path / "job" / name
    output.mkdir(parents=True)
    (output / "model").write_text("1")
    set_aside(output)
    set_aside(output)  # by the next server, if the first one was killed
    shutil.rmtree(output.parent)
    put_back(output)
    put_back(output)
    assert (output / "model").read_text() == "1"
    assert [each.name for each in tmp_path.iterdir()] == ["job"]


def test_without_output_nothing_is_made(tmp_path: Path) -> None:
    output = tmp_path / "job" / "output"
    set_aside(output)
    put_back(output)
    output.mkdir(parents=True)
    set_aside(output)
    assert [each.name for each in tmp_path.iterdir()] == ["job"]
