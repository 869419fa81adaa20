"""The logs of server and operator: lines for people, or a JSON object each for what collects them.

What is logged may hold what a stranger wrote: a name, a message, the text of an exception. It never
begins a line of its own, in either form, so that nobody can write a line that we did not.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Final

from trainway.telemetry.log_subject import with_subject

FORMATS: Final = ("text", "json")
LOG_FORMAT: Final = "TRAINWAY_LOG_FORMAT"
"""The variable that says in which form a server logs."""
LEVELS: Final = ("debug", "info", "warning", "error")
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


_BREAKS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What some readers take for the end of a line, or a terminal for an order, and JSON lets pass."""
_CONTROLS: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_INDENT: Final = "    "


class TextFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.123Z INFO trainway.operator: message key=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and a traceback below it, indented, where there is one."""
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        text = _in_one_line(f"{record.getMessage()}{fields}")
        line = f"{_time(record)} {record.levelname} {record.name}: {text}"
        if not record.exc_info:
            return line
        trace = self.formatException(record.exc_info).splitlines()
        return "\n".join((line, *(f"{_INDENT}{_in_one_line(each)}" for each in trace)))


class JsonFormatter(logging.Formatter):
    """An object with ts, level, logger, msg and whatever else was given as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        entry = {
            "ts": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            entry["stacktrace"] = self.formatException(record.exc_info)
        text = json.dumps(entry, default=str, ensure_ascii=False)
        return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_form(handler: logging.Handler, form: str) -> logging.Handler:
    """The handler, writing `text` or `json`; only JSON has the fields of the subject.

    Lines for people name their subject in the sentence.
    """
    if form == "json":
        handler.setFormatter(JsonFormatter())
        handler.addFilter(with_subject)
    else:
        handler.setFormatter(TextFormatter())
    return handler


def configure_logs(form: str, level: str) -> None:
    """Send everything to standard error, in one form."""
    handler = in_form(logging.StreamHandler(sys.stderr), form)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("aiohttp", "asyncio", "kubernetes_asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _in_one_line(text: str) -> str:
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}
