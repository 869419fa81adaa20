from collections.abc import Callable

from trainway.agent.base.event_loop import Timer
from trainway.agent.kubelet.handlers import port_number
from trainway.agent.kubelet.probes import Probe, Prober
from trainway.json_types import Json


class FakeProber(Prober):
    """Answers as it is told, and remembers how long it was to wait."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.waits: list[float] = []
        self.handlers: list[Json] = []
        self.timeouts: list[float] = []
        self.turns: list[bool] = []

    def ask(self, handler: Json, timeout: float, answer: Callable[[bool], None]) -> None:
        self.handlers.append(handler)
        self.timeouts.append(timeout)
        answer(self.answers.pop(0))

    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        self.waits.append(delay)
        timer = Timer(0.0, callback)
        if self.answers:
            timer.run()
        return timer


def run(spec: Json, *answers: bool) -> FakeProber:
    prober = FakeProber(*answers)
    Probe(spec, prober, prober.turns.append).start()
    return prober


def test_defaults_are_those_of_kubernetes() -> None:
    prober = run({}, False, False, False)
    assert prober.waits == [0, 10, 10, 10]
    assert prober.timeouts == [1, 1, 1]
    assert prober.handlers == [{}, {}, {}]
    assert prober.turns == [False]


def test_thresholds_want_answers_in_a_row() -> None:
    spec = {"successThreshold": 2, "failureThreshold": 2, "initialDelaySeconds": 4,
            "periodSeconds": 3, "timeoutSeconds": 7}  # fmt: skip
    prober = run(spec, True, False, True, True, False, False)
    assert prober.turns == [True, False]
    assert prober.waits[:2] == [4, 3]
    assert prober.timeouts[0] == 7


def test_a_stopped_probe_is_silent() -> None:
    prober = FakeProber()
    probe = Probe({}, prober, prober.turns.append)
    probe.start()
    probe.stop()
    prober.answers = [True]
    probe._ask()
    assert prober.turns == []


def test_ports_have_names() -> None:
    container = {"ports": [{"name": "web", "containerPort": 80}]}
    assert port_number("web", container) == 80
    assert port_number(8080, container) == 8080
    assert port_number("8081", container) == 8081
    assert port_number("none", container) == 0
