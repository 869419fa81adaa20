import asyncio
import json
import logging

import pytest

from trainway.telemetry.log_subject import about, context_about, job_fields
from trainway.telemetry.logs import JsonFormatter, TextFormatter
from trainway.telemetry.logs_testing import json_lines

FORGED = "2026-01-31T12:00:00.250Z ERROR trainway.x: forged"


def record(**extra: object) -> logging.LogRecord:
    made = logging.LogRecord("trainway.x", logging.INFO, "x.py", 1, "seen %s", ("a",), None)
    made.created = 1769860800.25
    vars(made).update(extra)
    return made


def failed_record() -> logging.LogRecord:
    made = record()
    try:
        raise ValueError("bad")
    except ValueError as error:
        made.exc_info = (ValueError, error, error.__traceback__)
    return made


def test_text() -> None:
    line = TextFormatter().format(record(namespace="team"))
    assert line == "2026-01-31T12:00:00.250Z INFO trainway.x: seen a namespace=team"
    assert TextFormatter().format(failed_record()).endswith("\n    ValueError: bad")


def test_json() -> None:
    assert json.loads(JsonFormatter().format(record(namespace="team"))) == {
        "ts": "2026-01-31T12:00:00.250Z",
        "level": "info",
        "logger": "trainway.x",
        "msg": "seen a",
        "namespace": "team",
    }
    failure = JsonFormatter().format(failed_record())
    assert "\n" not in failure
    assert json.loads(failure)["stacktrace"].endswith("ValueError: bad")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\x1b[2K\n"])
def test_hostile_text_cannot_make_a_line(end: str) -> None:
    hostile = f"x{end}{FORGED}{end}"
    made = logging.LogRecord("trainway.x", logging.INFO, "x.py", 1, "seen %s", (hostile,), None)
    vars(made)["job"] = hostile
    try:
        raise ValueError(hostile)
    except ValueError as error:
        made.exc_info = (ValueError, error, error.__traceback__)
    first, *rest = TextFormatter().format(made).splitlines()
    assert "INFO trainway.x: seen x" in first
    assert all(line.startswith("    ") for line in rest)
    assert "\x1b" not in TextFormatter().format(made)
    (line,) = JsonFormatter().format(made).splitlines()
    assert json.loads(line)["msg"] == f"seen {hostile}"
    assert json.loads(line)["job"] == hostile
    assert "\x1b" not in line


def test_lines_have_the_fields_of_whom_they_are_about() -> None:
    log = logging.getLogger("trainway.telemetry.logs_test")

    async def work() -> None:
        log.warning("deep")

    async def scene() -> None:
        with about(job_fields("01a", "demo")):
            log.warning("within", extra={"job": "given"})
            with about({"node": "0"}):
                await asyncio.create_task(work())
        log.warning("outside")
        await asyncio.create_task(work(), context=context_about(job_fields("01b", "other")))

    with json_lines(log.name) as lines:
        asyncio.run(scene())
    about_whom = [{k: line.get(k) for k in ("msg", "job_id", "job", "node")} for line in lines]
    assert about_whom == [
        {"msg": "within", "job_id": "01a", "job": "given", "node": None},
        {"msg": "deep", "job_id": "01a", "job": "demo", "node": "0"},
        {"msg": "outside", "job_id": None, "job": None, "node": None},
        {"msg": "deep", "job_id": "01b", "job": "other", "node": None},
    ]
