from hypothesis import given
from hypothesis import strategies as st

from trainway.kube.lines import LineSplitter


@given(st.binary(max_size=200), st.lists(st.integers(1, 30), max_size=40))
def test_lines_do_not_depend_on_the_pieces(text: bytes, sizes: list[int]) -> None:
    splitter = LineSplitter()
    lines: list[bytes] = []
    rest = text
    for size in [*sizes, len(text)]:
        lines += splitter.feed(rest[:size])
        rest = rest[size:]
    assert lines == [line for line in text.split(b"\n")[:-1] if line]


def test_a_line_of_many_pieces() -> None:
    splitter = LineSplitter()
    assert all(splitter.feed(b"x" * 65536) == [] for _ in range(64))
    assert splitter.feed(b"\nrest") == [b"x" * 65536 * 64]
    assert splitter.feed(b"\n") == [b"rest"]
