from trainway.llm.progress import Clock, line_of


def test_what_is_left_counts_from_where_this_process_began() -> None:
    clock = Clock(100, 10.0)
    assert clock.remaining(100, 200, 11.0) is None
    assert clock.remaining(110, 200, 20.0) == 90
    assert clock.remaining(200, 200, 110.0) == 0


def test_a_line_for_the_log() -> None:
    logs = {"loss": 0.25, "learning_rate": 1e-5, "entropy": 3}
    assert line_of(3, 10, logs, 7) == "step 3/10 loss 0.25 learning_rate 1e-05 7 s left"
    assert line_of(3, 10, {}, None) == "step 3/10"
