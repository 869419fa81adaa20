"""`job_recovery`: what happens to a job whose nodes or whose code fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.schema.shape import COUNT, Either, Items, Number, Record, Shape, Word

_EXIT_CODE: Final = Number(whole=True, least=0, most=255)
_STRATEGIES: Final = ("FAILOVER", "EAGER_NEXT_REGION")

FIELDS: Final[Mapping[str, Shape]] = {
    "strategy": Word((*_STRATEGIES, "none")),
    "max_restarts_on_errors": COUNT,
    "recover_on_exit_codes": Either((_EXIT_CODE, Items(_EXIT_CODE))),
}
SHAPE: Final = Either((Word((*_STRATEGIES, "none")), Record(FIELDS)))


@dataclass(frozen=True)
class Recovery:
    """How a job is recovered."""

    strategy: str | None = None
    """None: the default."""
    is_disabled: bool = False
    max_restarts: int = 0
    """After failures of the user's code."""
    exit_codes: tuple[int, ...] = ()
    """Those after which it starts again however often."""


NONE: Final = "none"
_NAMES: Final = {"FAILOVER": "failover", "EAGER_NEXT_REGION": "eager-next"}


def strategy_name(recovery: Recovery) -> str | None:
    """The strategy as a submission names it; None: the task says nothing."""
    return NONE if recovery.is_disabled else _NAMES.get(recovery.strategy or "")


def read(value: Any) -> Recovery:
    """Of a value that passed `SHAPE`."""
    if not isinstance(value, dict):
        value = {"strategy": value}
    strategy = value.get("strategy")
    codes = value.get("recover_on_exit_codes")
    listed = codes if isinstance(codes, list) else [] if codes is None else [codes]
    is_disabled = isinstance(strategy, str) and strategy.lower() == "none"
    return Recovery(
        strategy=None if strategy is None or is_disabled else strategy.upper(),
        is_disabled=is_disabled,
        max_restarts=int(value.get("max_restarts_on_errors") or 0),
        exit_codes=tuple(sorted({int(code) for code in listed})),
    )
