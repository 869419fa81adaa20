from datetime import UTC, datetime, timedelta, timezone

from trainway.kube.timestamps import micro_timestamp, moment_of, timestamp

_MOMENT = datetime(2026, 11, 15, 8, 7, 6, 50, tzinfo=UTC)


def test_seconds_and_microseconds() -> None:
    assert timestamp(_MOMENT) == "2026-11-15T08:07:06Z"
    assert micro_timestamp(_MOMENT) == "2026-11-15T08:07:06.000050Z"
    assert micro_timestamp(_MOMENT.replace(microsecond=0)) == "2026-11-15T08:07:06.000000Z"


def test_other_time_zones_and_back() -> None:
    there = _MOMENT.astimezone(timezone(timedelta(hours=5)))
    assert micro_timestamp(there) == micro_timestamp(_MOMENT)
    assert moment_of(micro_timestamp(_MOMENT)) == _MOMENT
