import json
from pathlib import Path

import pytest

from trainway.llm.weights import parameters

INDEX = "model.safetensors.index.json"
SHARDS = {"model-1.safetensors": [2, 3], "model-2.safetensors": [5]}


def _write(file: Path, shape: list[int]) -> None:
    header = json.dumps({"__metadata__": {}, "a": {"dtype": "BF16", "shape": shape}}).encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header)


@pytest.mark.parametrize(
    ("files", "indexed", "count"),
    [
        (SHARDS, (), 11),
        ({**SHARDS, "consolidated.safetensors": [11]}, (), 11),
        ({**SHARDS, "consolidated.safetensors": [11]}, tuple(SHARDS), 11),
        ({**SHARDS, "adapter_model.safetensors": [7]}, tuple(SHARDS), 11),
        ({"model.safetensors": [4], "consolidated.safetensors": [4]}, (), 4),
        ({"consolidated.safetensors": [4]}, (), 4),
        ({}, (), None),
    ],
)
def test_no_weight_is_counted_twice(
    tmp_path: Path, files: dict[str, list[int]], indexed: tuple[str, ...], count: int | None
) -> None:
    for name, shape in files.items():
        _write(tmp_path / name, shape)
    if indexed:
        index = {"weight_map": {f"weight {name}": name for name in indexed}}
        (tmp_path / INDEX).write_text(json.dumps(index))
    assert parameters(tmp_path) == count


@pytest.mark.parametrize(
    "index", ["", "[]", "{}", '{"weight_map": []}', '{"weight_map": {"a": []}}']
)
def test_a_damaged_index_says_nothing(tmp_path: Path, index: str) -> None:
    _write(tmp_path / "model-1.safetensors", [2])
    (tmp_path / INDEX).write_text(index)
    assert parameters(tmp_path) is None


def test_a_damaged_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 9)
    assert parameters(tmp_path) is None
