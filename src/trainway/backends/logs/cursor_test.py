import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.backends.logs.cursor import Cursor
from trainway.errors import UsageError


@given(
    st.integers(0, 65_535),
    st.dictionaries(st.text("abc-.0123456789", min_size=1), st.integers(0, 2**63)),
)
def test_it_survives_its_journey(attempt: int, offsets: dict[str, int]) -> None:
    cursor = Cursor.parse(Cursor(attempt, offsets).text())
    assert cursor.first_attempt == attempt
    assert {name: cursor.offset(name) for name in offsets} == offsets


def test_a_file_it_does_not_know_is_unread() -> None:
    assert Cursor(0, {"a": 5}).offset("b") == 0


def test_it_moves_on() -> None:
    cursor = Cursor()
    cursor.advance("a", 5)
    cursor.advance("a", 9)
    assert Cursor.parse(cursor.text()).offset("a") == 9


@pytest.mark.parametrize("text", ["x", "not a cursor", "abc", "AA", "AAAAAA", "A" * 27, "ä"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a position in a log"):
        Cursor.parse(text)


def test_a_cursor_that_was_changed_is_refused() -> None:
    text = Cursor(0, {"a": 5}).text()
    assert Cursor.parse(text).offset("a") == 5
    for changed in (text[:-1], text[:10] + ("B" if text[10] == "A" else "A") + text[11:]):
        with pytest.raises(UsageError, match="not a position in a log"):
            Cursor.parse(changed)
