from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.backends import configuration
from trainway.errors import TrainwayError


def test_without_a_file_nothing_is_configured(tmp_path: Path) -> None:
    assert configuration.read(tmp_path) == {}


def test_what_the_file_says(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("pools: {lab: {hosts: [a]}}")
    assert configuration.read(tmp_path) == {"pools": {"lab": {"hosts": ["a"]}}}


@dataclass(frozen=True)
class Case:
    name: str
    text: bytes
    said: str


CASES = [
    Case("no YAML", b"pools: {", "line 2, column 1: did not find"),
    Case("two documents", b"pools: {}\n---\npools: {}\n", "there are 2 documents in it, not one"),
    Case("a list", b"[1]", "line 1, column"),
    Case("no text", b"\xff\xfe\xfa", "not UTF-8"),
    Case("a key twice", b"pools: {}\npools: {}\n", "line 2, column"),
    Case("an unknown section", b"pool: {}", 'pool: Unknown field: did you mean "pools"?'),
    Case(
        "an unknown field",
        b"pools: {lab: {host: [a], hosts: [b]}}",
        'pools.lab.host: Unknown field: did you mean "hosts"?',
    ),
    Case(
        "a limit of nothing", b"limits: {logs_per_job: 0}", "limits.logs_per_job: Invalid value: 0"
    ),
    Case(
        "a limit that is none",
        b"limits: {logs_per_job: much}",
        'limits.logs_per_job: Invalid value: "much"',
    ),
    Case("an unknown limit", b"limits: {log_per_job: 5G}", "limits.log_per_job: Unknown field"),
    Case("a host twice", b"pools: {lab: {hosts: [a, a]}}", "pools.lab.hosts[1]: Duplicate value"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_one_error_that_says_where(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(case.text)
    with pytest.raises(TrainwayError) as caught:
        configuration.read(tmp_path)
    assert caught.value.message.startswith(f"{path}: {case.said}")


def test_a_file_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(TrainwayError, match="Is a directory"):
        configuration.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "false"),
        ("health_check: true", "true"),
        ("health_check: false", "false"),
        ("health_check: 60", "60"),
    ],
)
def test_what_is_usual_for_the_health_check(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    assert configuration.usual_health_check(tmp_path) == said


@pytest.mark.parametrize("value", ["601", "-1", "always", "[]"])
def test_a_health_check_is_a_flag_or_seconds(tmp_path: Path, value: str) -> None:
    (tmp_path / "config.yaml").write_text(f"health_check: {value}\n")
    with pytest.raises(TrainwayError, match="health_check: "):
        configuration.read(tmp_path)


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", "200000"])
def test_a_limit_is_a_number_that_makes_sense(tmp_path: Path, value: str) -> None:
    (tmp_path / "config.yaml").write_text(f"limits:\n  pods_per_job: {value}\n")
    with pytest.raises(TrainwayError, match=r"limits\.pods_per_job"):
        configuration.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("", 5_000_000_000),
        ("limits: {}", 5_000_000_000),
        ("limits: {logs_per_job: 20G}", 20_000_000_000),
        ("limits: {logs_per_job: 1Gi}", 1 << 30),
        ("limits: {logs_per_job: 1000}", 1000),
        ("limits: {logs_per_job: nonsense}", 5_000_000_000),
        ("pools: {", 5_000_000_000),
    ],
)
def test_the_limit_of_logs(tmp_path: Path, text: str, limit: int) -> None:
    (tmp_path / "config.yaml").write_text(text)
    assert configuration.log_limit(tmp_path) == limit
