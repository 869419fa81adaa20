import random

import pytest
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import ciphers

from trainway.data.journal import Checksum, checksum

CONTENT = random.Random(1).randbytes(10_000)  # noqa: S311 - content of a test


def in_pieces(content: bytes) -> int:
    found = Checksum()
    for start in range(0, len(content), 999):
        found.update(memoryview(content)[start : start + 999])
    return found.value()


def test_a_checksum_does_not_depend_on_the_pieces() -> None:
    assert in_pieces(CONTENT) == checksum(CONTENT) != checksum(CONTENT[:-1] + b"?")
    assert checksum(b"") != checksum(b"\0") != checksum(b"\0\0")


def test_there_is_one_where_the_quick_one_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object) -> None:
        raise UnsupportedAlgorithm("it is not in this build")

    monkeypatch.setattr(ciphers, "Cipher", refuse)
    assert in_pieces(CONTENT) == checksum(CONTENT) != checksum(CONTENT[:-1] + b"?")
