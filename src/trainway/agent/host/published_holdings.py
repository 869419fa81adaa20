"""How an agent tells the agents of other users what is held through it: the text of its file.

A reader does not trust whoever wrote the file. What has another form is malformed, however it
differs, and reading takes little time whatever the file says.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trainway.agent.transfer.host_events import HeldByOther
    from trainway.json_types import Json

    StartedProcess = tuple[int, int]
    """The number of a process, and when it started."""


VERSION = 1
SIZE_LIMIT = 256 * 1024
TEXT_LIMIT = 200
PROCESS_LIMIT = 8
"""As many processes of a holding are told; one that runs is enough."""
NUMBER_LIMIT = 1 << 53
DIGITS_LIMIT = 16


class MalformedError(ValueError):
    """It is not what an agent writes."""


class PublishedHolding:
    """What one job or cluster holds, and the processes that use it."""

    def __init__(self, held: HeldByOther, processes: Sequence[StartedProcess]) -> None:
        self.held = held
        self.processes = list(processes)[:PROCESS_LIMIT]


class Published:
    """All that is held through one agent."""

    def __init__(
        self, machine: str, daemon: StartedProcess, holdings: Sequence[PublishedHolding]
    ) -> None:
        self.machine = machine
        """Which boot of which machine the numbers of processes belong to."""
        self.daemon = daemon
        self._holdings = list(holdings)

    def living(self, is_running: Callable[[int, int], bool]) -> list[HeldByOther]:
        """What counts: all while the agent runs, after that what a process still uses.

        A process that has ended never runs again, so what does not count now is forgotten.
        """
        if not is_running(*self.daemon):
            self._holdings = [
                item for item in self._holdings if any(is_running(*each) for each in item.processes)
            ]
        return [item.held for item in self._holdings]

    def encode(self) -> bytes:
        """The text of the file."""
        holdings = [{**item.held, "processes": item.processes} for item in self._holdings]
        data: Json = {"version": VERSION, "machine": self.machine}
        return json.dumps({**data, "daemon": self.daemon, "holdings": holdings}).encode()


def decode(text: bytes) -> Published:
    """Read the text of a file; MalformedError: no agent wrote it."""
    try:
        data = json.loads(text, parse_int=_integer, parse_float=_refuse, parse_constant=_refuse)
        if data["version"] != VERSION:
            raise MalformedError("another version")
        machine = _text(data["machine"])
        holdings = [_holding(item) for item in _list(data["holdings"])]
        return Published(machine, _process(data["daemon"]), holdings)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedError(str(error)) from error


def _holding(data: Json) -> PublishedHolding:
    held: HeldByOther = {
        "key": _text(data["key"]),
        "owner": _text(data["owner"]),
        "client": _text(data["client"]),
        "name": _text(data["name"]),
        "cpus": _number(data["cpus"]),
        "memory": _number(data["memory"]),
        "gpus": {_text(name): _number(share) for name, share in data["gpus"].items()},
    }
    return PublishedHolding(held, [_process(item) for item in _list(data["processes"])])


def _process(data: object) -> StartedProcess:
    number, started = _list(data)
    if _number(number) < 1:
        raise MalformedError("not the number of a process")
    return _number(number), _number(started)


def _integer(digits: str) -> int:
    """Keep Python from working for minutes on a number of a million digits."""
    if len(digits) > DIGITS_LIMIT:
        raise MalformedError("a number with too many digits")
    return int(digits)


def _refuse(word: str) -> object:
    raise MalformedError(f"{word[:TEXT_LIMIT]} is not a whole number")


def _list(value: object) -> list[Json]:
    if not isinstance(value, list):
        raise MalformedError("not a list")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < NUMBER_LIMIT:
        raise MalformedError("not an amount")
    return value


def _text(value: object) -> str:
    """A text that may be shown on a terminal."""
    if not isinstance(value, str):
        raise MalformedError("not a text")
    return "".join(each if each.isprintable() else "?" for each in value[:TEXT_LIMIT])
