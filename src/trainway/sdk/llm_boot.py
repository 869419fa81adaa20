"""Unpacks the program that tunes language models inside the job, and starts what follows.

The text of this file is the program of `python -c`, so the job needs no Trainway: it keeps to the
standard library of Python 3.8. Arguments: the program as a zip file in base64, then the command,
which finds it by `PYTHONPATH`. Each node does it once, before torchrun.
"""

import base64
import os
import sys
import tempfile

LEAST = (3, 11)


def main(argv):  # type: ignore[no-untyped-def]
    """Do all of it."""
    if sys.version_info < LEAST:
        sys.exit("error: fine-tuning needs Python %d.%d or newer" % LEAST)  # noqa: UP031 - old too
    work = os.environ.get("TRAINWAY_WORK_DIR")
    if work and not os.path.isdir(work):  # noqa: PTH112 - as plain as can be
        work = None
    number, path = tempfile.mkstemp(".zip", "trainway-llm-", work)
    with os.fdopen(number, "wb") as file:
        file.write(base64.b64decode(argv[0]))
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = path + (os.pathsep + known if known else "")
    os.execvp(argv[1], argv[1:])  # noqa: S606 - what this is for


if __name__ == "__main__":
    main(sys.argv[1:])  # type: ignore[no-untyped-call]
