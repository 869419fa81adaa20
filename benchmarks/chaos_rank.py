"""What each rank of a job of `benchmarks/chaos.py` runs: it says when it begins and when it ends.

    chaos_rank.py FOLDER SECONDS EXIT_CODE

A rank holds a lock while it runs. All machines of the run share one kernel, so a rank that finds
the lock taken runs beside another one of the same number. It needs nothing but Python itself, since
hundreds of them start.
"""

import fcntl
import os
import sys
import time


def main(folder: str, seconds: str, code: str) -> int:
    """Run, and leave marks."""
    told = os.environ
    job, rank = told["TRAINWAY_JOB_ID"], told["JOB_COMPLETION_INDEX"]
    attempt = told.get("TRAINWAY_FENCING_TOKEN") or told["TRAINWAY_RESTART_ATTEMPT"]
    marks = os.open(f"{folder}/marks", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    lock = os.open(f"{folder}/{job}-{rank}.lock", os.O_RDWR | os.O_CREAT, 0o666)

    def note(event: str) -> None:
        os.write(marks, f"{event} {job} {rank} {attempt}\n".encode())

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note("doubled")
    note("begun")
    time.sleep(float(seconds))
    note("ended")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
