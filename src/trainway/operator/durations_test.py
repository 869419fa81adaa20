import pytest

from trainway.operator.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15),
        ("1m30s", 90),
        ("500ms", 0.5),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("2us", 2e-6),
        ("2\u00b5s", 2e-6),
        ("0", 0),
        ("-3s", -3),
        ("+3s", 3),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "15", "s", "1d", "1 s", "15s ", "-", "1h-3s", "\u0663s"])
def test_what_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None
