"""Runs tests many times, at rest and on a busy machine, and says which of them fail sometimes.

`make test-flaky N=20` is for tests that wait for processes, files or connections. Every other round
runs beside one process for each core that does nothing but compute.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

BUSY: Final = "while True: pass"
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Print each test that failed and how often; 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("tests", nargs="+")
    options = parser.parse_args(arguments)
    failures: Counter[str] = Counter()
    for number in range(options.times):
        is_busy = bool(number % 2)
        with busy_cores(os.cpu_count() or 1 if is_busy else 0):
            status, failed = run(options.tests)
        failures.update(failed)
        how = "on a busy machine" if is_busy else "at rest"
        sys.stdout.write(f"round {number + 1} of {options.times}, {how}: {len(failed)} failed\n")
        if status and not failed:
            sys.stdout.write("pytest itself failed; run it by hand\n")
            return status
    for test, count in failures.most_common():
        sys.stdout.write(f"{count} of {options.times} times: {test}\n")
    return 1 if failures else 0


def run(tests: list[str]) -> tuple[int, list[str]]:
    """Run the tests once; the status, and the names of those that failed."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadgroup"]
    done = subprocess.run(
        [*pytest, "-m", "not engine", *tests], stdout=subprocess.PIPE, text=True, check=False
    )
    return done.returncode, failed_tests(done.stdout)


def failed_tests(printed: str) -> list[str]:
    """The names of tests in the summary of pytest."""
    return FAILED.findall(printed)


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Keep so many cores busy."""
    with ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(process.kill)
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
