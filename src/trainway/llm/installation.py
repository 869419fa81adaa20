"""Whether what fine-tuning needs is installed where the job runs; asked before it is loaded."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

from trainway.errors import UnavailableError

NEEDED: Final = ("torch", "transformers", "accelerate", "trl", "peft", "datasets")


def check_installed(find: Callable[[str], Any] = find_spec) -> None:
    """Refuse to start without it, and say what is missing."""
    missing = [name for name in NEEDED if find(name) is None]
    if missing:
        raise UnavailableError(
            f"{', '.join(missing)} cannot be imported by {sys.executable}",
            hint=f"install it there: pip install {' '.join(missing)}",
        )
