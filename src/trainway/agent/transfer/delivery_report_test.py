from trainway.agent.transfer.delivery_report import (
    AT_LAST_SECONDS,
    EVERY_SECONDS,
    LEAST,
    DeliveryReport,
)

MB = 1_000_000


def test_it_is_told_at_first_then_now_and_then_and_at_the_end() -> None:
    told: list[str] = []
    now = 100.0
    report = DeliveryReport(told.append, lambda: now)
    report.on_progress("a", 1 * MB, 300 * MB)
    report.on_progress("a", 2 * MB, 300 * MB)
    report.on_progress("b", 5 * MB, 200 * MB)
    now += EVERY_SECONDS
    report.on_progress("a", 150 * MB, 300 * MB)
    report.on_progress("a", 300 * MB, 300 * MB)

    assert told == [
        "1 of 300 MB of files are on the way to host a",
        "5 of 200 MB of files are on the way to host b",
        "150 of 300 MB of files are on the way to host a",
        "300 MB of files are on the way to host a",
    ]


def test_of_very_much_it_is_told_more_seldom() -> None:
    told: list[str] = []
    now = 100.0
    report = DeliveryReport(told.append, lambda: now)
    for sent in range(0, 2000, 50):  # 10 MB a second
        report.on_progress("a", sent * MB, 100_000 * MB)
        now += EVERY_SECONDS
    assert len(told) == 1 + int(1950 * MB // (AT_LAST_SECONDS * 10 * MB))
    assert told[1] == "600 of 100000 MB of files are on the way to host a"


def test_a_little_is_not_worth_a_word() -> None:
    told: list[str] = []
    DeliveryReport(told.append, lambda: 0.0).on_progress("a", LEAST - 1, LEAST - 1)
    assert told == []
