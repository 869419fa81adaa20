"""One probe of a container: asks again and again, and tells when its answer turned."""

from __future__ import annotations

from abc import ABC, abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.base.event_loop import Timer
    from trainway.json_types import Json


class Prober(ABC):
    """What a probe needs: to run its handler, and to wait."""

    @abstractmethod
    def ask(self, handler: Json, timeout: float, answer: Callable[[bool], None]) -> None:
        """Carry out a handler once."""

    @abstractmethod
    def call_later(self, delay: float, callback: Callable[[], object]) -> Timer:
        """Wait."""


class Probe:
    """A startup, readiness or liveness probe while its container runs."""

    def __init__(self, spec: Json, prober: Prober, on_turn: Callable[[bool], None]) -> None:
        self._spec = spec
        self._prober = prober
        self._on_turn = on_turn
        self._streak = 0
        self._last: bool | None = None
        self._stopped = False
        self._timer: Timer | None = None

    def start(self) -> None:
        """Begin asking."""
        self._wait(float(self._spec.get("initialDelaySeconds") or 0))

    def stop(self) -> None:
        """Ask no more."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _wait(self, delay: float) -> None:
        self._timer = self._prober.call_later(delay, self._ask)

    def _ask(self) -> None:
        if not self._stopped:
            timeout = float(self._spec.get("timeoutSeconds") or 1)
            self._prober.ask(self._spec, timeout, self._on_answer)

    def _on_answer(self, passed: bool) -> None:
        if self._stopped:
            return
        self._streak = self._streak + 1 if passed == self._last else 1
        self._last = passed
        name, default = ("successThreshold", 1) if passed else ("failureThreshold", 3)
        if self._streak >= int(self._spec.get(name) or default):
            self._on_turn(passed)
        if not self._stopped:
            self._wait(float(self._spec.get("periodSeconds") or 10))
