import asyncio
import os
from pathlib import Path

import pytest

from trainway.backends.login.ssh_process import Ended, run


def ended(*words: str, data: bytes = b"", limit_s: float = 60.0) -> Ended:
    return asyncio.run(run(words, data, {"PATH": os.environ["PATH"]}, limit_s))


def test_what_it_reads_writes_and_complains_of() -> None:
    found = ended("sh", "-c", "cat; pwd; echo no >&2; exit 3", data=b"hello ")
    assert found == Ended(3, b"hello /\n", b"no\n")


def test_one_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert ended("cat", str(pipe), limit_s=0.1) == Ended(None)


def test_one_that_is_not_there_cannot_be_started() -> None:
    with pytest.raises(OSError, match="No such file"):
        ended("/nowhere/ssh")
