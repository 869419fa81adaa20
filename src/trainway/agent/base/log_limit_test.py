import os
from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.log_limit import DEFAULT, LogLimit, amount, is_closed, limit_of, used_in


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (5 * 10**9, "5 GB"),
        (1 << 30, "1.07 GB"),
        (2_500_000, "2.5 MB"),
        (1000, "1 kB"),
        (999, "999 bytes"),
        (3 * 10**12, "3 TB"),
    ],
)
def test_amounts_are_words(count: int, text: str) -> None:
    assert amount(count) == text


def test_what_fits_is_whole_lines() -> None:
    limit = LogLimit(10, 2)
    assert limit.fitting(b"one\ntwo\n") == b"one\ntwo\n"
    assert limit.fitting(b"one\ntwo\n3\n") == b"one\ntwo\n"
    limit.spend(7)
    assert limit.fitting(b"one\n") == b""
    limit.spend(70)
    assert limit.room == 0


def test_the_logs_of_a_job_count_and_nothing_else(tmp_path: Path) -> None:
    directory = Directory(str(tmp_path))
    assert used_in(directory) == 0
    (tmp_path / "logs").mkdir()
    for name in ("node-0-0.main.0.log", "node-0-0.main.1.log", "node-0-1.main.0.log", "other"):
        (tmp_path / "logs" / name).write_text("12345")
    (tmp_path / "logs" / "link.log").symlink_to("/etc/passwd")
    link = len("/etc/passwd")
    assert used_in(directory) == 15 + link
    assert used_in(directory, "node-0-0.") == 10
    directory.close()


@pytest.mark.parametrize(
    ("plan", "limit"),
    [
        ('{"logs": {"limit": 7}}', 7),
        ("{}", DEFAULT),
        ("[]", DEFAULT),
        ("no JSON", DEFAULT),
        ('{"logs": {"limit": "x"}}', DEFAULT),
    ],
)
def test_the_plan_says_the_limit(tmp_path: Path, plan: str, limit: int) -> None:
    (tmp_path / "plan.json").write_text(plan)
    directory = Directory(str(tmp_path))
    assert limit_of(directory) == limit
    directory.close()


def test_a_file_that_ends_with_the_notice_is_closed(tmp_path: Path) -> None:
    fd = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT)
    assert not is_closed(fd)
    os.write(fd, b"x" * 1000 + b"\n")
    assert not is_closed(fd)
    os.write(fd, LogLimit(123).notice(0.0))
    assert is_closed(fd)
    os.close(fd)
