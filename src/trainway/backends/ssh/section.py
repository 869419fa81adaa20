"""Pools of hosts, as `config.yaml` describes them. Pure.

A host is often no more than a name, which ssh itself looks up in `~/.ssh/config`. What is written
here takes precedence: first the host's own fields, then those of its pool.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.backends.login import login_fields
from trainway.jobset.quantity import InvalidQuantityError, Quantity
from trainway.schema.field import FieldError, Path, duplicate, invalid, key_step
from trainway.schema.shape import TEXT, Either, Items, Number, Record, Table, Text, check

_AMOUNT: Final = Either((TEXT, Number(above=0)))
_HOST: Final = Record(
    {
        "host": login_fields.HOST_NAME,
        "name": Text(login_fields.NAME, "must be letters, digits, '.', '_' and '-'"),
        "address": Text(r"\S+", "must be an address"),
        "cpus": _AMOUNT,
        "memory": _AMOUNT,
        "gpus": Number(whole=True, least=0),
        **login_fields.LOGIN,
    },
    needs=("host",),
)
_POOL: Final = Record(
    {
        "hosts": Items(Either((login_fields.HOST_NAME, _HOST)), least=1),
        "outputs": login_fields.OUTPUTS,
        **login_fields.LOGIN,
    },
    needs=("hosts",),
)
SHAPE: Final = Table(_POOL, key=login_fields.NAME)


@dataclass(frozen=True)
class Host:
    """One host of a pool."""

    host: str
    """The host as ssh knows it."""
    name: str
    """The host as we call it; it has another name only where two have the same."""
    user: str = ""
    port: int = 0
    """The port; 0: what ssh says."""
    identity: str = ""
    address: str = ""
    """Where the other hosts reach it; empty: where ssh does."""
    python: str = login_fields.PYTHON
    env: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    """The further arguments of ssh."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """How many `cpus` and `gpus`, and bytes of `memory`, jobs may use, where that is less."""

    def ssh(self) -> list[str]:
        """The arguments of ssh that lead to the host, but for its name."""
        found = list(self.options)
        found += ["-i", self.identity] if self.identity else []
        found += ["-p", str(self.port)] if self.port else []
        found += ["-l", self.user] if self.user else []
        return found


@dataclass(frozen=True)
class HostPool:
    """Hosts among which jobs are placed."""

    name: str
    hosts: tuple[Host, ...]
    outputs: str = login_fields.COPY
    """Whether what jobs leave in their output folders comes back, or stays on the hosts."""


def errors(data: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """Everything that is wrong with the section `pools`."""
    found = list(check(SHAPE, data, path))
    yield from found
    if found:
        return
    for name, pool in data.items():
        yield from _host_errors(pool["hosts"], (*path, key_step(name), "hosts"))


def pools_of(data: Mapping[str, Any], home: str) -> dict[str, HostPool]:
    """The pools of a section in which nothing is wrong; `home` is what `~` stands for."""
    return {name: _pool(name, pool, home) for name, pool in data.items()}


def _pool(name: str, data: Mapping[str, Any], home: str) -> HostPool:
    hosts = tuple(_host(item, data, home) for item in data["hosts"])
    return HostPool(name, hosts, data.get("outputs") or login_fields.COPY)


def _host(item: str | Mapping[str, Any], pool: Mapping[str, Any], home: str) -> Host:
    own: Mapping[str, Any] = {"host": item} if isinstance(item, str) else item
    user, _, host = str(own["host"]).rpartition("@")

    def chosen(name: str, otherwise: Any = "") -> Any:
        return own.get(name) or pool.get(name) or otherwise

    env = {**(pool.get("env") or {}), **(own.get("env") or {})}
    options = [*(pool.get("options") or ()), *(own.get("options") or ())]
    return Host(
        host=host,
        name=str(own.get("name") or host),
        user=str(own.get("user") or user or pool.get("user") or ""),
        port=int(chosen("port", 0)),
        identity=login_fields.expanded(chosen("identity"), home),
        address=str(own.get("address") or ""),
        python=chosen("python", login_fields.PYTHON),
        env=login_fields.variables(env),
        options=login_fields.all_expanded(options, home),
        limits=_limits(own),
    )


def _limits(own: Mapping[str, Any]) -> dict[str, float]:
    found = {
        name: _number(Quantity.parse(own[name]))
        for name in ("cpus", "memory")
        if own.get(name) is not None
    }
    return found | ({"gpus": int(own["gpus"])} if own.get("gpus") is not None else {})


def _number(amount: Quantity) -> float:
    whole = amount.ceil()
    return whole if Quantity.parse(whole) == amount else amount.nanos / 10**9


def _host_errors(hosts: Sequence[Any], path: Path) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, item in enumerate(hosts):
        own = {"host": item} if isinstance(item, str) else item
        name = own.get("name") or str(own["host"]).rpartition("@")[2]
        if name in seen:
            place = (*path, index) if isinstance(item, str) else (*path, index, "host")
            yield duplicate(place, name)
        seen.add(name)
        for amount in ("cpus", "memory"):
            yield from _amount_errors(own.get(amount), (*path, index, amount))


def _amount_errors(value: Any, path: Path) -> Iterator[FieldError]:
    if value is None:
        return
    try:
        is_something = Quantity.parse(value) > Quantity()
    except InvalidQuantityError:
        is_something = False
    if not is_something:
        yield invalid(path, value, "must be an amount such as 8, 500m or 32Gi")
