"""Lines out of the pieces in which a network brings them.

A watch sends one event a line, and a line may have megabytes: pieces are kept apart until their
line ends, so that a long line is copied only once.
"""


class LineSplitter:
    """Takes pieces, gives whole lines without their ends."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that are whole now; empty ones are left out."""
        if b"\n" not in piece:
            if piece:
                self._pending.append(piece)
            return []
        lines = piece.split(b"\n")
        if self._pending:
            lines[0] = b"".join([*self._pending, lines[0]])
            self._pending = []
        rest = lines.pop()
        if rest:
            self._pending.append(rest)
        return [line for line in lines if line]
