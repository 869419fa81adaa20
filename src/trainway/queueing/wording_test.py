import pytest

from trainway.queueing.reservation import Reservation
from trainway.queueing.wording import expected

NOON = 1_795_003_200  # 2026-11-18 12:00 UTC
LAST = 253_402_300_799  # 9999-12-31 23:59:59 UTC


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        (None, ""),
        (NOON, "It starts at 2026-11-18 12:00 UTC at the latest, when a has ended."),
        (LAST - 1, "It starts at 9999-12-31 23:59 UTC at the latest, when a has ended."),
        (LAST + 1, ""),
        (NOON + 10**12, ""),
        (NOON + 2**63, ""),
    ],
)
def test_the_start_is_told_unless_there_is_no_date_for_it(at: int | None, wanted: str) -> None:
    assert expected(Reservation("b", at, {}, "a")) == wanted
