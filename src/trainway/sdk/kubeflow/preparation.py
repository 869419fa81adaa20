"""Installs the packages of a job before the launcher of its processes starts.

A launcher such as torchrun imports what it launches with, so packages that a function needs may be
packages that the launcher needs. Each process still looks whether they are there, which they are
then: the launcher hands its `PYTHONPATH` on.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from trainway.sdk import function_boot
from trainway.sdk.functions import FunctionCall

_MAIN = 'if __name__ == "__main__":'
_INSTALL = """
head = json.loads(sys.argv[1])
work = os.environ.get("TRAINWAY_WORK_DIR")
folder = Path(work) if work else scratch_folder(is_shared=True)
install(head["packages"], head["index_urls"], folder)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def prepared(launcher: Sequence[str], call: FunctionCall) -> list[str]:
    """The launcher, after what installs the packages of a call; MPI starts processes elsewhere."""
    if not call.packages or "torch.distributed.run" not in launcher:
        return list(launcher)
    head = {"packages": call.packages, "index_urls": call.index_urls}
    return ["python", "-c", _program(), json.dumps(head), *launcher]


def _program() -> str:
    """What calls a function in a job can also install packages; only its end is another."""
    text = Path(function_boot.__file__).read_text("utf-8")
    return text.partition(_MAIN)[0] + _INSTALL
