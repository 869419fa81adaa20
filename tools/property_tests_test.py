"""The examples of property tests: the same every time in CI, but for those of `make fuzz`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SHOWN: Final = """
import conftest
from hypothesis import settings
print(*(settings.get_profile(name).derandomize for name in ("few", "many")))
"""


def test_the_many_examples_are_new_ones_in_ci() -> None:
    environment = os.environ | {"CI": "true", "PYTHONPATH": f"{ROOT}:{ROOT / 'tools'}"}
    done = subprocess.run(
        [sys.executable, "-c", SHOWN],
        cwd=ROOT,
        env=environment,
        text=True,
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "False"]
