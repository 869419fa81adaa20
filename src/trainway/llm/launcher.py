"""`python -m trainway.llm.launcher sft ...`: torchrun for `trainway.llm`, without its traceback.

What is wrong was said by the process that failed; this one ends with its exit code.
"""

import sys
from typing import Any, Final

from trainway.errors import TrainwayError
from trainway.llm.installation import check_installed

_SIGNALLED: Final = 128


def main(words: list[str]) -> int:
    """Start the processes of this node; the variables of the job say how many."""
    try:
        check_installed()
    except TrainwayError as error:
        print(f"error: {error.sentence}", file=sys.stderr)  # noqa: T201 - the log of the job
        return error.exit_code
    from torch.distributed import run  # noqa: PLC0415 - slow, and maybe not there
    from torch.distributed.elastic.multiprocessing import (  # noqa: PLC0415 - as above
        SignalException,
    )
    from torch.distributed.elastic.multiprocessing.errors import (  # noqa: PLC0415 - as above
        ChildFailedError,
    )

    try:
        run.main(["-m", "trainway.llm", *words])
    except ChildFailedError as error:
        return exit_code(error)
    except SignalException as error:  # the job was cancelled, or its node was taken away
        return _SIGNALLED + int(error.sigval)
    return 0


def exit_code(error: Any) -> int:
    """That of the process that failed first, as a shell has it."""
    _, failure = error.get_first_failure()
    code = int(failure.exitcode)
    return code if code > 0 else _SIGNALLED - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
