from pathlib import Path

from trainway.llm.checkpoints import (
    complete_steps,
    latest_common,
    mark_complete,
    others,
    path_of,
    stand_in,
    superfluous,
)


def test_only_whole_checkpoints_of_as_many_processes_count(tmp_path: Path) -> None:
    for step, processes in ((10, 2), (20, 2), (30, 4)):
        path_of(tmp_path, step).mkdir()
        mark_complete(path_of(tmp_path, step), processes)
    path_of(tmp_path, 40).mkdir()  # killed while it was written
    path_of(tmp_path, 50).mkdir()
    (path_of(tmp_path, 50) / "trainway-complete.json").write_text("{")
    (tmp_path / "checkpoint-60x").mkdir()

    assert complete_steps(tmp_path, 2) == [10, 20]
    assert complete_steps(tmp_path, 4) == [30]
    assert others(tmp_path, 2) == [30, 40, 50]
    assert complete_steps(tmp_path / "none", 2) == others(tmp_path / "none", 2) == []


def test_so_many_are_kept_when_all_is_done(tmp_path: Path) -> None:
    for step in (2, 10, 9):
        path_of(tmp_path, step).mkdir()
    (tmp_path / "settings.json").touch()
    assert superfluous(tmp_path, 1) == [path_of(tmp_path, 2), path_of(tmp_path, 9)]
    assert superfluous(tmp_path, 3) == superfluous(tmp_path / "none", 1) == []
    assert superfluous(tmp_path, None) == [tmp_path]


def test_the_newest_that_everybody_has() -> None:
    assert latest_common([[10, 20], [10, 20, 30], [20]]) == 20
    assert latest_common([[10], [20]]) is None
    assert latest_common([[], [20]]) is None
    assert latest_common([]) is None


def test_what_the_first_process_has_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "optimizer.bin").write_text("states")
    stand_in(tmp_path)
    assert (tmp_path / "optimizer.bin").read_text() == "states"
    assert (tmp_path / "pytorch_model_fsdp.bin").stat().st_size == 0
