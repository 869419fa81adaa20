import signal
from collections.abc import Iterator

import pytest

from trainway.cli.leaving import Leaving, SignalledError


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """The test runner has its own."""
    former = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_after_a_last_word(number: signal.Signals) -> None:
    said: list[str] = []
    with pytest.raises(SystemExit) as caught, Leaving(lambda: said.append("it goes on")):
        signal.raise_signal(number)
    assert (caught.value.code, said) == (128 + number, ["it goes on"])


def test_it_says_nothing_of_itself() -> None:
    before = signal.getsignal(signal.SIGTERM)
    said: list[str] = []
    with Leaving(lambda: said.append("x")):
        assert signal.getsignal(signal.SIGTERM) is not before
    assert (said, signal.getsignal(signal.SIGTERM)) == ([], before)


def test_a_terminal_that_is_gone_is_no_error() -> None:
    def say() -> None:
        raise OSError(5, "Input/output error")

    with pytest.raises(SystemExit) as caught, Leaving(say):
        raise SignalledError(signal.SIGHUP)
    assert caught.value.code == 129


def test_what_was_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Leaving(lambda: None):
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
