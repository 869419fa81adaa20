"""The data of a fine-tune: files of a folder, a dataset that was saved, or one of the hub."""

import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from trainway.errors import UnreadableError, UsageError
from trainway.llm.columns import Form, Layout, check_template, converted, is_whole, layout_of
from trainway.llm.configuration import Configuration, Task

READERS: Final = {
    ".parquet": "parquet",
    ".jsonl": "json",
    ".json": "json",
    ".csv": "csv",
    ".arrow": "arrow",
    ".txt": "text",
}
_TEXT: Final = ".txt"
_SAVED: Final = ("dataset_info.json", "dataset_dict.json")
_ABOUT: Final = (*_SAVED, "dataset_infos.json", "config.json")
"""What says something about data, and is none."""
_NUMBERS: Final = ("int", "uint", "float", "bool")
_UNREADABLE: Final = (OSError, ValueError, EOFError, RecursionError, zlib.error)
"""What readers raise of files that are damaged, or not what their names say."""
_SPLIT_ENDS: Final = "-_./0123456789"


def files_of(place: Path, split: str) -> tuple[str, list[str]]:
    """Which reader takes which files: those of the split, or all where none is called so.

    Of several kinds that with files of the split is taken, then any but texts, which are often a
    README or a license, then that with the most files.
    """
    if place.is_file():
        found = [place]
    else:
        found = sorted(
            each
            for each in place.rglob("*")
            if each.suffix in READERS
            and each.name not in _ABOUT
            and each.is_file()
            and not _is_hidden(each, place)
        )
    kinds = {suffix: [each for each in found if each.suffix == suffix] for suffix in READERS}
    named = {
        suffix: [each for each in files if _is_of(each, place, split)]
        for suffix, files in kinds.items()
    }

    def rank(suffix: str) -> tuple[bool, bool, bool, int]:
        files = named[suffix] or kinds[suffix]
        return bool(files), bool(named[suffix]), suffix != _TEXT, len(files)

    suffix = max(READERS, key=rank)
    if not kinds[suffix]:
        raise UsageError(
            f"dataset: {place} has no file that can be read",
            field="dataset",
            hint=f"files may be {', '.join(READERS)}",
        )
    return READERS[suffix], [str(each) for each in named[suffix] or kinds[suffix]]


def _is_of(file: Path, place: Path, split: str) -> bool:
    """Whether a file is called after the split: train.jsonl, train-00000-of-00002.parquet."""
    names = file.relative_to(place).parts if file != place else (file.name,)
    return any(
        name.startswith(split) and (name[len(split) :][:1] or "/") in _SPLIT_ENDS for name in names
    )


def _is_hidden(file: Path, place: Path) -> bool:
    return any(name.startswith(".") for name in file.relative_to(place).parts)


def loaded(config: Configuration, task: Task, tokenizer: Any) -> Any:
    """The rows as TRL trains on them."""
    rows = _read(config)
    if not len(rows):
        raise UsageError("dataset: it has no rows", field="dataset")
    layout = layout_of(list(rows.column_names), task, config.columns)
    rows = _whole(rows, layout)
    has_template = getattr(tokenizer, "chat_template", None) is not None
    check_template(layout, rows[0], has_template=has_template)
    if layout.form is Form.TOKENS:
        return _named(rows, layout)
    rows = _named(_as_text(rows, layout), layout)

    def change(row: Mapping[str, Any]) -> dict[str, Any]:
        told = {layout.sources[part]: value for part, value in row.items()}
        return converted(told, layout, has_template=has_template)

    return rows.map(change, remove_columns=rows.column_names, desc="Mapping columns")


def _whole(rows: Any, layout: Layout) -> Any:
    """The rows that can be trained on; how many others there are is said once."""
    columns = [layout.sources[part] for part in layout.needed]
    if not any(rows.data.column(each).null_count for each in columns):
        return rows
    found = rows.filter(lambda row: is_whole(row, layout), desc="Leaving out rows")
    wanted = " and ".join(columns)
    if not len(found):
        raise UsageError(f"dataset: no row has {wanted}", field="dataset")
    if len(found) < len(rows) and os.environ.get("RANK", "0") == "0":
        left = len(rows) - len(found)
        said = f"{left} of {len(rows)} rows are left out: they do not have {wanted}"
        print(said, flush=True)  # noqa: T201 - the job's log
    return found


def _named(rows: Any, layout: Layout) -> Any:
    """The columns that are needed, called after their parts, so that their types stay known."""
    names: dict[str, str] = {}
    for part, column in layout.sources.items():
        names.setdefault(column, part)
    return rows.select_columns(list(names)).rename_columns(names)


def _as_text(rows: Any, layout: Layout) -> Any:
    """Numbers, such as the answers of a CSV, as they are written."""
    from datasets import Value  # noqa: PLC0415 - slow

    for column in layout.sources.values():
        kind = rows.features[column]
        if isinstance(kind, Value) and kind.dtype.startswith(_NUMBERS):
            rows = rows.cast_column(column, Value("string"))
    return rows


def filled(place: Path, files: list[str]) -> list[str]:
    """The files with something in them: readers of `datasets` end with a traceback on others."""
    found = [each for each in files if Path(each).stat().st_size]
    if not found:
        raise UsageError(f"dataset: {place} is empty", field="dataset")
    return found


def _read(config: Configuration) -> Any:
    import datasets  # noqa: PLC0415 - slow, and only where it trains

    place = Path(config.dataset).expanduser()
    datasets.disable_progress_bars()
    try:
        if not place.exists():
            if place.is_absolute() or config.dataset.startswith(("./", "../", "~")):
                raise UsageError(
                    f"dataset: there is no {config.dataset} where the job runs", field="dataset"
                )
            return datasets.load_dataset(config.dataset, split=config.split)
        if any((place / name).exists() for name in _SAVED):
            saved = datasets.load_from_disk(str(place))
            if not hasattr(saved, "column_names") or not isinstance(saved.column_names, dict):
                return saved
            if config.split not in saved:
                raise UsageError(
                    f"split: the data has no {config.split!r}",
                    field="split",
                    hint=f"it has {', '.join(saved)}",
                )
            return saved[config.split]
        reader, files = files_of(place, config.split)
        return datasets.load_dataset(reader, data_files=filled(place, files), split="train")
    except (*_UNREADABLE, datasets.exceptions.DatasetsError) as error:
        reason = str(error.__cause__ or error).splitlines()
        raise UnreadableError(
            f"dataset: {config.dataset} cannot be read: {reason[0] if reason else error!r}"
        ) from error
