"""Tasks that cannot begin, and where others do."""

from pathlib import Path

import pytest

from trainway.agent.slurm.driver.step_pod import main, new_home


def test_a_directory_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/job"
    assert main([path]) == 1
    assert capfd.readouterr().err == f"this node does not see the job's directory: {path}\n"


def test_a_directory_that_is_somebody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trainway-7.0"
    path.symlink_to(tmp_path)
    monkeypatch.setenv("TRAINWAY_AGENT", f"{path}.x.pyz")
    assert main([str(path)]) == 1
    said = capfd.readouterr().err
    assert said.startswith("the job's directory cannot be used on this node: ")
    assert "it belongs to another user" in said


def test_a_task_has_a_place_that_its_node_names_and_its_image_has(tmp_path: Path) -> None:
    scratch, missing = str(tmp_path), str(tmp_path / "missing")
    for environ in ({"TMPDIR": scratch}, {"SLURM_TMPDIR": missing, "TMPDIR": scratch}):
        assert Path(new_home(environ)).parent == tmp_path
    elsewhere = Path(new_home({"TMPDIR": missing}))
    elsewhere.rmdir()
    assert elsewhere.parent == Path("/tmp")
