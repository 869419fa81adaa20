"""What a head says, and how it is found."""

from trainway.data.flight.contract import HEAD_LISTENS, LISTENS


def test_the_address_is_found_in_the_log_of_the_head() -> None:
    said = "2026-11-18 INFO " + LISTENS % ("head", "10.0.0.7", 15042)
    found = HEAD_LISTENS.search(said)
    assert found is not None
    assert found[1] == "10.0.0.7"
    assert HEAD_LISTENS.search(LISTENS % ("worker", "10.0.0.7", 15042)) is None
