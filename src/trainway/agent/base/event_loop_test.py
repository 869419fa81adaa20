import os
import signal

from trainway.agent.base.event_loop import EventLoop


def test_timers_come_in_order_and_can_be_cancelled() -> None:
    loop, calls = EventLoop(), list[str]()
    loop.call_later(0.02, lambda: calls.append("late"))
    loop.call_later(0.0, lambda: calls.append("soon"))
    loop.call_later(0.01, lambda: calls.append("never")).cancel()
    loop.call_later(0.03, loop.stop)
    loop.run()
    assert calls == ["soon", "late"]


def test_a_timer_may_be_for_any_later_time() -> None:
    loop, calls = EventLoop(), list[str]()
    read, write = os.pipe()
    for delay in (float(2**63 - 1), 1e12, 30 * 86_400.0):
        loop.call_later(delay, lambda: calls.append("late"))
        os.write(write, b"data")
        loop.watch(read, on_readable=lambda: calls.append(os.read(read, 10).decode()))
        loop.turn()
    assert calls == ["data"] * 3
    for fd in (read, write):
        os.close(fd)


def test_files_and_signals_wake_the_loop() -> None:
    loop, calls = EventLoop(), list[str]()
    read, write = os.pipe()

    def on_readable() -> None:
        calls.append(os.read(read, 10).decode())
        loop.forget(read)
        os.kill(os.getpid(), signal.SIGUSR1)

    def on_signal() -> None:
        calls.append("signal")
        loop.stop()

    before = signal.getsignal(signal.SIGUSR1)
    loop.watch(read, on_readable=on_readable)
    loop.on_signal(signal.SIGUSR1, on_signal)
    os.write(write, b"data")
    loop.run()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGUSR1, before)
    assert calls == ["data", "signal"]
    for fd in (read, write):
        os.close(fd)


def test_a_file_closed_in_the_same_turn_is_not_called() -> None:
    loop, calls = EventLoop(), list[int]()
    pipes = [os.pipe(), os.pipe()]

    def close_other(mine: int, other: int) -> None:
        calls.append(mine)
        loop.forget(mine)
        loop.forget(other)
        loop.stop()

    first, second = pipes[0][0], pipes[1][0]
    loop.watch(first, on_readable=lambda: close_other(first, second))
    loop.watch(second, on_readable=lambda: close_other(second, first))
    for _, write in pipes:
        os.write(write, b"x")
    loop.run()
    assert len(calls) == 1
    for ends in pipes:
        for fd in ends:
            os.close(fd)
