"""The files of weights of a model: which of them count, and how many parameters they have."""

import json
from math import prod
from pathlib import Path
from typing import Final

_WHOLE: Final = "model.safetensors"
_INDEX: Final = "model.safetensors.index.json"
_CONSOLIDATED: Final = "consolidated"
"""So the names of the same weights begin in the form that Mistral's own programs read."""
_LONGEST: Final = 100 << 20


def parameters(folder: Path) -> int | None:
    """How many there are by the headers of the files; None where these do not say."""
    total = 0
    try:
        for file in weight_files(folder):
            with file.open("rb") as opened:
                length = int.from_bytes(opened.read(8), "little")
                header = json.loads(opened.read(min(length, _LONGEST)))
            total += sum(prod(header[name]["shape"]) for name in header if name != "__metadata__")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # whoever loads it will say what is wrong
    return total or None


def weight_files(folder: Path) -> list[Path]:
    """Those that transformers loads: one for all, those of the index, or what else there is."""
    found = sorted(folder.glob("*.safetensors"))
    whole, index = folder / _WHOLE, folder / _INDEX
    if whole in found:
        return [whole]
    if index.is_file():
        named = set(json.loads(index.read_bytes())["weight_map"].values())
        return [file for file in found if file.name in named]
    return [file for file in found if not file.name.startswith(_CONSOLIDATED)] or found
