import pytest

from trainway.kube.throttle import Throttle


class _Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_free_and_then_requests_queue_up() -> None:
    clock = _Clock()
    throttle = Throttle(qps=10, burst=3, clock=clock)
    waits = [throttle.reserve() for _ in range(5)]
    assert waits == pytest.approx([0, 0, 0, 0.1, 0.2])


def test_the_bucket_fills_but_not_over() -> None:
    clock = _Clock()
    throttle = Throttle(qps=10, burst=3, clock=clock)
    for _ in range(3):
        throttle.reserve()
    clock.now += 0.2
    assert [throttle.reserve() for _ in range(3)] == pytest.approx([0, 0, 0.1])
    clock.now += 3600
    assert [throttle.reserve() for _ in range(4)] == pytest.approx([0, 0, 0, 0.1])
