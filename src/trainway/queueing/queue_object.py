"""A queue as somebody writes it: `kind: Queue`, checked field by field, and back. Pure.

Whether a queue is open is not part of it: `apply` must not open a queue that somebody has paused.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.api.timeout import LONGEST
from trainway.jobset.quantity import Family, InvalidQuantityError, Quantity
from trainway.json_types import Json
from trainway.queueing.amounts import CPU, MEMORY, Amounts
from trainway.queueing.queue_policy import Eviction, Preemption, QueuePolicy, problems
from trainway.schema.field import FieldError, Path, invalid, key_step
from trainway.schema.shape import (
    COUNT,
    FLAG,
    POSITIVE,
    TEXT,
    Either,
    Number,
    Record,
    Table,
    Text,
    Word,
    check,
)

API_VERSION: Final = "trainway.dev/v1"
KIND: Final = "Queue"
NAME: Final = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
NAME_FORM: Final = (
    "must be small letters, digits and '-', beginning and ending with a letter or digit; at most 63"
)
_THOUSAND: Final = 1000
_NANOS: Final = 10**9

_AMOUNTS: Final = Table(Either((TEXT, Number(least=0))))
_SPEC: Final = Record(
    {
        "quota": _AMOUNTS,
        "gpuHoursPerMonth": COUNT,
        "cohort": Text(f"({NAME})?", NAME_FORM),
        "borrowing": _AMOUNTS,
        "weight": POSITIVE,
        "preemption": Word(tuple(Preemption)),
        "reclaims": FLAG,
        "eviction": Word(tuple(Eviction)),
        "gracePeriodSeconds": Number(whole=True, least=0, most=LONGEST),
    }
)
_SHAPE: Final = Record(
    {
        "apiVersion": Word((API_VERSION,), any_case=False),
        "kind": Word((KIND,), any_case=False),
        "metadata": Record({"name": Text(NAME, NAME_FORM)}, needs=("name",)),
        "spec": _SPEC,
    },
    needs=("apiVersion", "kind", "metadata"),
)


def errors(obj: Any) -> list[FieldError]:
    """What is wrong with an object that is to be a queue."""
    found = list(check(_SHAPE, obj, ()))
    if found:
        return found
    spec = obj.get("spec") or {}
    for field in ("quota", "borrowing"):
        found += _amount_errors(spec.get(field) or {}, ("spec", field))
    if found:
        return found
    wrong = problems(policy_of(name_in(obj), spec))
    return [_error(field, detail, spec) for field, detail in wrong.items()]


def name_in(obj: Json) -> str:
    """What the queue of an object is called."""
    return str(obj["metadata"]["name"])


def policy_of(name: str, spec: Mapping[str, Any]) -> QueuePolicy:
    """The queue that the `spec` of a right object describes; it is open."""
    usual = QueuePolicy(name)
    hours = spec.get("gpuHoursPerMonth")
    grace = spec.get("gracePeriodSeconds")
    return QueuePolicy(
        name,
        quota=_amounts(spec.get("quota") or {}),
        gpu_hours=None if hours is None else int(hours),
        cohort=spec.get("cohort") or "",
        borrowing=_amounts(spec.get("borrowing") or {}),
        weight=int(spec.get("weight") or usual.weight),
        preemption=Preemption((spec.get("preemption") or usual.preemption).capitalize()),
        reclaims=bool(spec.get("reclaims")),
        eviction=Eviction((spec.get("eviction") or usual.eviction).capitalize()),
        grace_s=usual.grace_s if grace is None else int(grace),
    )


def spec_of(policy: QueuePolicy) -> Json:
    """The `spec` of a queue, with all that differs from what a queue is where nothing is said."""
    usual = QueuePolicy(policy.name)
    spec = {
        "quota": _figures(policy.quota),
        "gpuHoursPerMonth": policy.gpu_hours,
        "cohort": policy.cohort,
        "borrowing": _figures(policy.borrowing),
        "weight": None if policy.weight == usual.weight else policy.weight,
        "preemption": None if policy.preemption is usual.preemption else str(policy.preemption),
        "reclaims": policy.reclaims,
        "eviction": None if policy.eviction is usual.eviction else str(policy.eviction),
        "gracePeriodSeconds": None if policy.grace_s == usual.grace_s else policy.grace_s,
    }
    return {
        name: value
        for name, value in spec.items()
        if value is not False and value not in (None, "", {})
    }


def _amounts(written: Mapping[str, Any]) -> dict[str, int]:
    return {name: _number(name, value) for name, value in written.items() if value is not None}


def _number(resource: str, written: str | float) -> int:
    """An amount as decisions count it."""
    quantity = Quantity.parse(written)
    return (quantity * _THOUSAND if resource == CPU else quantity).ceil()


def _figures(amounts: Amounts) -> Json:
    return {name: written(name, amount) for name, amount in amounts.items()}


def written(resource: str, amount: int) -> str | int:
    """An amount as objects have it, exactly."""
    if resource == CPU:
        return str(Quantity(amount * _NANOS // _THOUSAND))
    if resource == MEMORY:
        return str(Quantity(amount * _NANOS, Family.BINARY))
    return amount


def _amount_errors(written: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    for name, value in written.items():
        where = (*path, key_step(name))
        try:
            quantity = Quantity.parse(value)
        except InvalidQuantityError:
            yield invalid(where, value, "must be a quantity, such as 4 or 16Gi")
            continue
        if name not in (CPU, MEMORY) and quantity.ceil() * _NANOS != quantity.nanos:
            yield invalid(where, value, "must be a whole number")


def _error(field: str, detail: str, spec: Mapping[str, Any]) -> FieldError:
    """One of the errors that `problems` tells by the names of fields, with a dot for a key."""
    first, _, key = field.partition(".")
    value = spec.get(first)
    if not key:
        return invalid(("spec", first), value, detail)
    return invalid(("spec", first, key_step(key)), (value or {}).get(key), detail)
