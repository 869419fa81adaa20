import logging
import subprocess
import sys
from pathlib import Path

import pytest

from trainway.server.log_file import LogFile


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("name", logging.INFO, "file", 1, text, (), None)


def test_a_log_is_set_aside_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = LogFile(path, largest=100)
    for number in range(30):
        log.emit(record(f"line {number}"))
    log.close()
    assert path.stat().st_size <= 110
    kept = path.with_name("log.1").read_text() + path.read_text()
    lines = [int(line.removeprefix("line ")) for line in kept.splitlines()]
    assert lines == list(range(lines[0], 30))


def test_what_the_process_prints_follows_to_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    program = (
        "import logging, sys, pathlib\n"
        "from trainway.server.log_file import LogFile\n"
        "log = LogFile(pathlib.Path(sys.argv[1]), largest=10)\n"
        "log.emit(logging.makeLogRecord({'msg': 'x' * 20}))\n"
        "log.emit(logging.makeLogRecord({'msg': 'y'}))\n"
        "print('printed', file=sys.stderr)\n"
    )
    with path.open("ab") as file:
        subprocess.run([sys.executable, "-c", program, path], stderr=file, check=True)
    assert path.read_text() == "y\nprinted\n"


def test_a_full_disk_takes_nothing_but_the_record(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "log").symlink_to("/dev/full")
    log = LogFile(tmp_path / "log")
    log.emit(record("lost"))
    assert capfd.readouterr() == ("", "")
    log.close()
