import json
import logging

from trainway.telemetry.logs import JsonFormatter, TextFormatter


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
    assert TextFormatter().format(failed_record()).endswith("\nValueError: bad")


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
