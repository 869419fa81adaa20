import json
from collections.abc import Sequence
from typing import Any

import pytest

from trainway.data.flight.reading import Part, Position, Wishes
from trainway.data.flight.row_range import RowRange
from trainway.errors import UsageError


class Numbers:
    """A table of one column with the numbers of its rows."""

    count = 100
    version = "1"

    def read(self, ranges: Sequence[RowRange], columns: Sequence[str] | None) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - an extra

        rows = [row for each in ranges for row in range(each.start, each.stop)]
        return pa.table({"id": rows}).select(columns or ["id"])


def left(state: dict[str, Any], wishes: Wishes, part: Part) -> list[int]:
    position = Position(wishes)
    position.restore(json.loads(json.dumps(state)))
    return [row for each in position.tables(Numbers(), part) for row in each["id"].to_pylist()]


def begun(wishes: Wishes, part: Part) -> dict[str, Any]:
    """The state of a reader that was given ten rows."""
    position = Position(wishes)
    next(position.tables(Numbers(), part))
    position.row = 10
    return position.save()


def test_a_state_goes_on_with_the_next_row() -> None:
    state = begun(Wishes(), Part(1, 2))
    assert left(state, Wishes(), Part(1, 2)) == list(range(60, 100))
    del state["readers"]  # of an older version
    assert left(state, Wishes(), Part(1, 2)) == list(range(60, 100))


@pytest.mark.parametrize(
    ("wishes", "part"),
    [
        (Wishes(), Part(0, 3)),
        (Wishes(), Part(0, 2, 0, 2)),
        (Wishes(equal=True), Part(0, 2)),
    ],
)
def test_a_state_of_another_number_of_readers_is_refused(wishes: Wishes, part: Part) -> None:
    state = begun(Wishes(), Part(0, 2))
    with pytest.raises(UsageError, match="another number of readers") as raised:
        left(state, wishes, part)
    assert "use 2 ranks with 1 workers each, and equal=False" in str(raised.value.hint)
    assert left({**state, "row": 0}, wishes, part)[0] == 0  # at the beginning nothing is lost
