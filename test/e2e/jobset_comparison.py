"""The comparison of `shared/conformance` beside the repository, for tests of every backend."""

import importlib.util
from types import ModuleType
from typing import Final

from environments import REPOSITORY

FOLDER: Final = REPOSITORY.parent / "shared" / "conformance"
CASES: Final = FOLDER / "jobset"
PROGRAM: Final = FOLDER / "compare_jobset.py"
SETTLE_S: Final = 5.0
"""As the comparison has it: what is being stopped still counts, and leaves its last marks."""


def loaded() -> ModuleType:
    """The comparison."""
    spec = importlib.util.spec_from_file_location(PROGRAM.stem, PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
