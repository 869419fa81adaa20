"""examples/elastic_ddp.py, which ends when a file is there: `paced_elastic.py FOLDER`.

Each process first leaves in the folder the pid of the torchrun that started it.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv.pop(1))
NODE = os.environ["JOB_COMPLETION_INDEX"]

elastic_ddp: Any = import_module("elastic_ddp")  # of examples/, where torch is


def is_over(_step: int, _steps: int) -> bool:
    """Whether the test has seen enough."""
    return (FOLDER / "finish").exists()


(FOLDER / f"torchrun-{NODE}").write_text(str(os.getppid()))
elastic_ddp.is_over = is_over
elastic_ddp.main()
