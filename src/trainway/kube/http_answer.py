"""Reading an HTTP/1.1 answer from the pieces in which it comes. Pure."""

from typing import Final, NamedTuple

_LONGEST_HEAD: Final = 65536
_TO_THE_END: Final = -1
_IN_CHUNKS: Final = -2


class MalformedAnswerError(ConnectionError):
    """What came is no HTTP."""


class Answer(NamedTuple):
    """An answer."""

    status: int
    body: bytes
    retry_after: str | None = None
    keeps_connection: bool = True


class AnswerReader:
    """Takes pieces, gives an answer when it is whole; then the next one begins."""

    def __init__(self) -> None:
        self._reset(b"")

    def feed(self, piece: bytes) -> Answer | None:
        """The answer, once it is whole."""
        self._buffer += piece
        if not self._status and not self._read_head():
            return None
        if self._length >= 0:
            if len(self._buffer) < self._length:
                return None
            return self._whole(bytes(memoryview(self._buffer)[: self._length]), self._length)
        if self._length == _IN_CHUNKS:
            return self._read_chunks()
        return None

    def end(self) -> Answer | None:
        """The connection was closed; that ends an answer of unknown length."""
        if self._status and self._length == _TO_THE_END:
            return self._whole(bytes(self._buffer), len(self._buffer))
        return None

    def _reset(self, rest: bytes) -> None:
        self._buffer = bytearray(rest)
        self._status = 0
        self._length = _TO_THE_END
        self._retry_after: str | None = None
        self._keeps_connection = True
        self._chunks: list[bytes] = []
        self._place = 0

    def _read_head(self) -> bool:
        """Whether the head is there."""
        while True:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self._buffer) > _LONGEST_HEAD:
                    raise MalformedAnswerError("the header of the answer does not end")
                return False
            head = bytes(self._buffer[:end])
            del self._buffer[: end + 4]
            self._parse(head)
            if self._status >= 200:
                return True
            self._status = 0  # 100 Continue and the like: the answer follows

    def _parse(self, head: bytes) -> None:
        lines = head.split(b"\r\n")
        version, _, rest = lines[0].partition(b" ")
        code = rest[:3]
        if not version.startswith(b"HTTP/1.") or not code.isdigit() or len(code) != 3:
            raise MalformedAnswerError("the answer is not HTTP/1.1")
        self._status = int(code)
        self._keeps_connection = version != b"HTTP/1.0"
        self._length = _TO_THE_END
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            name = name.lower()
            if name == b"content-length":
                text = value.strip()
                if not text.isdigit():
                    raise MalformedAnswerError("the answer has no valid length")
                self._length = int(text)
            elif name == b"transfer-encoding" and value.strip().lower() == b"chunked":
                self._length = _IN_CHUNKS
            elif name == b"connection" and value.strip().lower() == b"close":
                self._keeps_connection = False
            elif name == b"retry-after":
                self._retry_after = value.strip().decode("latin-1")
        if self._status in (204, 304):
            self._length = 0

    def _read_chunks(self) -> Answer | None:
        buffer = self._buffer
        while True:
            end = buffer.find(b"\r\n", self._place)
            if end < 0:
                return None
            try:
                size = int(buffer[self._place : end].partition(b";")[0], 16)
            except ValueError:
                raise MalformedAnswerError("a part of the answer has no valid length") from None
            begin = end + 2
            if size == 0:
                return self._read_trailer(begin)
            if len(buffer) < begin + size + 2:
                return None
            self._chunks.append(bytes(buffer[begin : begin + size]))
            self._place = begin + size + 2
            if self._place > _LONGEST_HEAD:
                del buffer[: self._place]
                self._place = 0

    def _read_trailer(self, begin: int) -> Answer | None:
        """What follows the last chunk: an empty line, maybe after headers."""
        if self._buffer[begin : begin + 2] == b"\r\n":
            return self._whole(b"".join(self._chunks), begin + 2)
        end = self._buffer.find(b"\r\n\r\n", begin)
        return None if end < 0 else self._whole(b"".join(self._chunks), end + 4)

    def _whole(self, body: bytes, used: int) -> Answer:
        rest = len(self._buffer) - used
        answer = Answer(
            self._status,
            body,
            self._retry_after,
            self._keeps_connection and self._length != _TO_THE_END and not rest,
        )
        self._reset(b"")
        return answer
