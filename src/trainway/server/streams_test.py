import json

import pytest

from trainway.backends.base import LogLine
from trainway.server.sse import ServerEvent
from trainway.server.streams import log_event


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"plain", "plain"),
        ("grün \U0001f600".encode(), "grün \U0001f600"),
        (b"\xff\x00", "\\xff\x00"),
        (b'quote " back \\ tab \t', 'quote " back \\ tab \t'),
        (b"\r\x1b[31m", "\r\x1b[31m"),
        (b"long " * 1000, "long " * 1000),
        *[
            (b"long " * 1000 + special, "long " * 1000 + special.decode())
            for special in (b'"', b"\\", b"\t", b"\x7f", b"\0", "ü".encode())
        ],
    ],
)
def test_a_log_line_is_an_event_like_any_other(text: bytes, shown: str) -> None:
    line = LogLine("2026-11-15T05:10:00.000000Z", "node", 1, 2, "main", 3, "stderr", text, "abc")
    data = {
        "time": "2026-11-15T05:10:00.000000Z",
        "role": "node",
        "job": 1,
        "rank": 2,
        "container": "main",
        "attempt": 3,
        "stream": "stderr",
        "text": shown,
    }
    assert log_event(line).encode() == ServerEvent("log", data, "abc").encode()
    assert json.loads(log_event(line).splitlines()[2].removeprefix("data: ")) == data


def test_a_part_of_a_line_says_that_it_is_one() -> None:
    line = LogLine("t", "node", 0, 0, "main", 0, "stdout", b"x", "abc", is_part=True)
    data = json.loads(log_event(line).splitlines()[2].removeprefix("data: "))
    assert (data["text"], data["partial"]) == ("x", True)
