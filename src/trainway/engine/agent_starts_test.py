from trainway.engine.agent_starts import FailedStarts, StartPolicy


def test_pauses_double_up_to_a_limit_and_end() -> None:
    starts = FailedStarts(StartPolicy(most=6, first_pause_s=1, longest_pause_s=5))
    assert [starts.note("no memory") for _ in range(6)] == [1, 2, 4, 5, 5, None]


def test_the_default_gives_up_after_some_minutes() -> None:
    assert 120 < StartPolicy().longest_wait_s < 600


def test_a_job_that_is_given_up_says_what_was_wrong_first() -> None:
    starts = FailedStarts(StartPolicy())
    starts.note("no memory")
    assert starts.summary("no memory") == "no memory; it was tried once"
    starts.note("killed")
    assert starts.summary("killed") == "no memory; it was tried 2 times, at last: killed"


def test_a_start_ends_the_row() -> None:
    starts = FailedStarts(StartPolicy(most=2))
    assert starts.note("no memory") == 1
    starts.clear()
    assert starts.note("killed") == 1
    assert starts.summary("killed").startswith("killed;")
