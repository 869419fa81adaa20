import sys
import types
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass
class _Rows:
    """As much of a dataset as is asked of it; rows are kept whole, as its tables keep columns."""

    rows: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.rows[index]

    @property
    def column_names(self) -> list[str]:
        return list(self.rows[0])

    @property
    def features(self) -> dict[str, object]:
        return dict.fromkeys(self.column_names)

    @property
    def data(self) -> Any:
        return types.SimpleNamespace(column=lambda _name: types.SimpleNamespace(null_count=0))

    def select_columns(self, names: list[str]) -> "_Rows":
        return _Rows([{name: row[name] for name in names} for row in self.rows])

    def rename_columns(self, names: Mapping[str, str]) -> "_Rows":
        return _Rows([{names[name]: value for name, value in row.items()} for row in self.rows])

    def map(self, change: Callable[[Any], dict[str, Any]], **_named: object) -> "_Rows":
        return _Rows([change(row) for row in self.rows])


ASKED = [{"role": "user", "content": "q"}]
TOOLS = [{"name": "f"}]


@pytest.mark.parametrize(
    ("rows", "words", "made"),
    [
        ([{"ids": [1], "target": [2], "x": 3}], ["columns.input_ids=ids", "columns.labels=target"],
         [{"input_ids": [1], "labels": [2]}]),
        ([{"ids": [1]}], ["columns.input_ids=ids", "columns.labels=ids"], [{"input_ids": [1]}]),
        ([{"input_ids": [1], "labels": [2]}], [], [{"input_ids": [1], "labels": [2]}]),
        ([{"input_ids": "q", "labels": "a"}],
         ["columns.prompt=input_ids", "columns.completion=labels"],
         [{"prompt": "q", "completion": "a"}]),
        ([{"talk": ASKED, "fn": None}, {"talk": ASKED, "fn": TOOLS}],
         ["columns.messages=talk", "columns.tools=fn"],
         [{"messages": ASKED, "tools": None}, {"messages": ASKED, "tools": TOOLS}]),
    ],
)  # fmt: skip
def test_columns_are_called_as_trl_calls_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[dict[str, Any]],
    words: list[str],
    made: list[dict[str, Any]],
) -> None:
    library = types.ModuleType("datasets")
    for name, value in {
        "load_dataset": lambda *_values, **_named: _Rows(rows),
        "disable_progress_bars": lambda: None,
        "Value": str,
        "exceptions": types.SimpleNamespace(DatasetsError=ArithmeticError),
    }.items():
        setattr(library, name, value)
    monkeypatch.setitem(sys.modules, "datasets", library)
    (tmp_path / "a.jsonl").write_text("{}")
    config = configured({}, ["model=/m", f"dataset={tmp_path}", *words], "words")
    found = loaded(config, Task.SFT, types.SimpleNamespace(chat_template="jinja"))
    assert found.rows == made
