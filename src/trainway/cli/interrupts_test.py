import _thread
import signal

import pytest

from trainway.cli.interrupts import Interrupts


def test_an_interrupt_breaks_off_what_hears_it() -> None:
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        interrupts.hear(_thread.interrupt_main)


def test_an_interrupt_elsewhere_waits_until_it_is_heard() -> None:
    with Interrupts() as interrupts:
        _thread.interrupt_main()
        with pytest.raises(KeyboardInterrupt):
            interrupts.hear(lambda: 1)
        assert interrupts.hear(lambda: 1) == 1


def test_afterwards_everything_is_as_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_where_interrupts_are_ignored_they_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
