import shutil
from pathlib import Path

from trainway.engine.moving.kept_output import put_back, set_aside


def test_output_survives_the_removal_of_its_job(tmp_path: Path) -> None:
    output = tmp_path / "job" / "output"
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
