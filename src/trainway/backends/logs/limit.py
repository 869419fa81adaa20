"""How much of the logs of one job is kept, as `config.yaml` says it. Pure.

limits:
  logs_per_job: 20G
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.agent.base.log_limit import DEFAULT
from trainway.jobset.quantity import InvalidQuantityError, Quantity
from trainway.schema.field import FieldError, Path, invalid
from trainway.schema.shape import TEXT, Either, Number

SHAPE: Final = Either((TEXT, Number(above=0)))
_NAME: Final = "logs_per_job"


def errors(limits: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """What is wrong with the amount in the section `limits`, which has the right shape."""
    if _NAME in limits:
        try:
            is_some = _bytes(limits[_NAME]) > 0
        except InvalidQuantityError:
            is_some = False
        if not is_some:
            said = "must be a number of bytes, such as 5G"
            yield invalid((*path, _NAME), limits[_NAME], said)


def limit_of(limits: Mapping[str, Any]) -> int:
    """The limit in bytes that a section says in which nothing is wrong."""
    return _bytes(limits[_NAME]) if _NAME in limits else DEFAULT


def _bytes(amount: Any) -> int:
    return Quantity.parse(str(amount)).nanos // 10**9
