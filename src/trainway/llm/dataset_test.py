import sys
import types
import zlib
from pathlib import Path

import pytest

from trainway.errors import UnreadableError, UsageError
from trainway.llm.configuration import Task, configured
from trainway.llm.dataset import files_of, filled, loaded


def _made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("names", "reader", "chosen"),
    [
        (["train.jsonl", "test.jsonl", "README.md"], "json", ["train.jsonl"]),
        (["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "a.csv"],
         "parquet", ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"]),
        (["train/a.parquet", "test/a.parquet"], "parquet", ["train/a.parquet"]),
        (["rows.csv"], "csv", ["rows.csv"]),
        (["training.jsonl", "x.jsonl"], "json", ["training.jsonl", "x.jsonl"]),
        ([".cache/train.jsonl", "rows.json"], "json", ["rows.json"]),
        (["rows.csv", "README.txt", "LICENSE.txt"], "csv", ["rows.csv"]),
        (["train/a.csv", "train/README.txt", "train/LICENSE.txt"], "csv", ["train/a.csv"]),
        (["train.jsonl", "a.csv", "b.csv"], "json", ["train.jsonl"]),
        (["train.txt", "a.csv", "b.csv"], "text", ["train.txt"]),
        (["a.txt", "b.txt"], "text", ["a.txt", "b.txt"]),
        (["rows.csv", "dataset_infos.json", "config.json"], "csv", ["rows.csv"]),
    ],
)  # fmt: skip
def test_files_of_the_split_are_chosen(
    tmp_path: Path, names: list[str], reader: str, chosen: list[str]
) -> None:
    found = files_of(_made(tmp_path, *names), "train")
    assert found == (reader, [str(tmp_path / name) for name in chosen])


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no file that can be read"):
        files_of(_made(tmp_path, "README.md"), "train")


def test_empty_files_are_left_out_and_nothing_else_is_refused(tmp_path: Path) -> None:
    for name, text in (("a.jsonl", "{}"), ("b.jsonl", "")):
        (tmp_path / name).write_text(text)
    _, files = files_of(tmp_path, "train")
    assert filled(tmp_path, files) == [str(tmp_path / "a.jsonl")]

    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(UsageError, match=f"^dataset: {tmp_path} is empty$"):
        filled(tmp_path, files)


@pytest.mark.parametrize("error", [RecursionError("too deep"), zlib.error("-3"), EOFError()])
def test_what_readers_raise_of_damaged_files_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_values: object, **_named: object) -> None:
        raise error

    library = types.ModuleType("datasets")
    for name, value in {
        "load_dataset": fail,
        "disable_progress_bars": lambda: None,
        "exceptions": types.SimpleNamespace(DatasetsError=ArithmeticError),
    }.items():
        setattr(library, name, value)
    monkeypatch.setitem(sys.modules, "datasets", library)
    (tmp_path / "a.jsonl").write_text("{}")
    config = configured({}, ["model=/m", f"dataset={tmp_path}"], "words")
    with pytest.raises(UnreadableError, match="cannot be read"):
        loaded(config, Task.SFT, None)
