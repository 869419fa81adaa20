from trainway.engine.idempotency import identified
from trainway.engine.submission import Submission

FORMER = "e3d4249a8c897a7724fd4eecda3a7c2c9c31f32d091232df024b9e19083c6003"
"""Of the request below, as the programs give it that know nothing of setups of workers."""


def test_a_request_that_is_repeated_after_an_upgrade_is_the_same() -> None:
    assert identified(Submission([], key="k")).digest == FORMER
