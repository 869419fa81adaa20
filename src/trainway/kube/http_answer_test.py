from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.kube.http_answer import Answer, AnswerReader, MalformedAnswerError


@dataclass(frozen=True)
class Case:
    name: str
    text: bytes
    answer: Answer


_CASES = [
    Case("of known length", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Answer(200, b"{}")),
    Case("empty", b"HTTP/1.1 404 Not Found\r\ncontent-length:0\r\n\r\n", Answer(404, b"")),
    Case("nothing more", b"HTTP/1.1 204 No Content\r\n\r\n", Answer(204, b"")),
    Case(
        "in chunks",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab\n\r\nA;x=y\r\n0123456789\r\n"
        b"0\r\n\r\n",
        Answer(200, b"ab\n0123456789"),
    ),
    Case(
        "with a trailer",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
        Answer(200, b"x"),
    ),
    Case(
        "busy",
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 1\r\n\r\nx",
        Answer(429, b"x", "1"),
    ),
    Case(
        "the last one",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
        Answer(200, b"x", None, False),
    ),
    Case("old", b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", Answer(200, b"x", None, False)),
    Case(
        "after a word before",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
        Answer(201, b"x"),
    ),
]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.name)
def test_whole(case: Case) -> None:
    assert AnswerReader().feed(case.text) == case.answer


@given(st.lists(st.sampled_from(_CASES), min_size=1), st.lists(st.integers(1, 40), max_size=60))
def test_answers_do_not_depend_on_the_pieces(cases: list[Case], sizes: list[int]) -> None:
    reader = AnswerReader()
    for case in cases:
        text, answer = case.text, None
        for size in [*sizes, len(text)]:
            assert answer is None
            answer = reader.feed(text[:size])
            text = text[size:]
            if not text:
                break
        assert answer == case.answer


def test_of_unknown_length() -> None:
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\n\r\nab") is None
    assert reader.feed(b"c") is None
    assert reader.end() == Answer(200, b"abc", None, False)


def test_cut_off() -> None:
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx") is None
    assert reader.end() is None
    assert AnswerReader().end() is None


def test_more_than_the_answer_spoils_the_connection() -> None:
    answer = AnswerReader().feed(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy")
    assert answer == Answer(200, b"x", None, False)


def test_a_large_body_in_chunks() -> None:
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") is None
    chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    assert all(reader.feed(chunk * 4) is None for _ in range(64))
    answer = reader.feed(b"0\r\n\r\n")
    assert answer == Answer(200, b"x" * 4096 * 4 * 64)


@pytest.mark.parametrize(
    "text",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"x" * 70_000,
    ],
    ids=lambda text: repr(text[:30]),
)
def test_what_is_no_http(text: bytes) -> None:
    with pytest.raises(MalformedAnswerError):
        AnswerReader().feed(text)
