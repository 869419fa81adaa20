"""What is logged while a test does something, as whatever collects logs reads it."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from trainway.json_types import Json
from trainway.telemetry.logs import in_form


@contextmanager
def json_lines(logger: str) -> Iterator[list[Json]]:
    """The lines of a logger and of those below it; they are there once the block is left."""
    stream = io.StringIO()
    lines: list[Json] = []
    handler = in_form(logging.StreamHandler(stream), "json")
    log = logging.getLogger(logger)
    log.addHandler(handler)
    try:
        yield lines
    finally:
        log.removeHandler(handler)
        lines += [json.loads(line) for line in stream.getvalue().splitlines()]
