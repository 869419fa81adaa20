from pathlib import Path

import pytest

from trainway.errors import InvalidError
from trainway.sdk.cluster_tasks import TaskWishes, of_command, of_file
from trainway.sdk.manifests import Wishes
from trainway.sdk.tasks import run_objects

TASK = "workdir: ./code\nfile_mounts:\n  /data: ./data.csv\n  /far: s3://bucket/x\nrun: ls"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    return tmp_path


def lines(text: str, on: str | None = None) -> tuple[str, ...]:
    with pytest.raises(InvalidError) as caught:
        run_objects(text, "x.yaml", Wishes(on=on))
    return caught.value.lines


@pytest.mark.parametrize("on", [None, "ssh/lab", "k8s"])
def test_files_that_are_missing_are_told_by_field_before_anything_is_submitted(
    folder: Path, on: str | None
) -> None:
    task = TASK.replace("  /far: s3://bucket/x\n", "")
    assert lines(task, on) == (
        f"workdir: there is no folder ./code ({folder}/code)",
        f"file_mounts[/data]: there is no file or folder ./data.csv ({folder}/data.csv)",
    )


@pytest.mark.parametrize("source", ["s3//bucket/x", "s3:/bucket/x", "s3:bucket/x"])
def test_a_misspelt_uri_is_answered_with_the_right_one(source: str) -> None:
    (line,) = lines(f"file_mounts: {{/data: '{source}'}}\nrun: ls")
    assert line.endswith("; did you mean s3://bucket/x?")


def test_a_workdir_is_a_folder(folder: Path) -> None:
    (folder / "code").write_text("")
    assert lines("workdir: code\nrun: ls") == ("workdir: code is a file, not a folder",)


def test_of_several_tasks_it_says_which() -> None:
    text = "name: both\n---\nname: first\nrun: ls\n---\nname: second\nworkdir: gone\nrun: ls"
    (line,) = lines(text)
    assert line.startswith("task second: workdir: there is no folder gone (")


def test_clusters_refuse_them_too() -> None:
    with pytest.raises(InvalidError, match=r"^workdir: there is no folder gone \("):
        of_command("ls", TaskWishes(workdir="gone"))
    with pytest.raises(InvalidError, match=r"^workdir: there is no folder gone \("):
        of_file("workdir: gone\nrun: ls", "x.yaml", TaskWishes())


def test_what_is_there_is_taken(folder: Path) -> None:
    (folder / "code").mkdir()
    run_objects("workdir: code\nrun: ls", "x.yaml", Wishes())
    of_command("ls", TaskWishes(workdir="code"))


def test_nobody_knows_what_a_server_elsewhere_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWAY_SERVER", "http://gpu.example.com:8800")
    run_objects("workdir: gone\nrun: ls", "x.yaml", Wishes())
