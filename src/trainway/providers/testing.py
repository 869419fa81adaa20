"""A cloud for tests that is kept in one file, and breaks when it is told to.

It outlives whoever uses it: a server that is killed finds after its restart what it has made. Tests
look at the same file from outside, take machines away, and say what shall go wrong next.

A server that is a process of its own finds it as an entry point of the group `trainway.providers`
(`StandInCloud`), and the file in the variable `TRAINWAY_STAND_IN_CLOUD`.
"""

import fcntl
import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NoReturn

from trainway.providers.base import (
    CLUSTER_TAG,
    COSTS_NOTHING,
    FOLLOWING,
    OWNER_TAG,
    RANK_TAG,
    TOKEN_TAG,
    Ability,
    GangRequest,
    Identity,
    Machine,
    MachineState,
    Notice,
    Place,
    tags,
)
from trainway.providers.errors import ProviderError, Scope, Trouble

FILE_VARIABLE: Final = "TRAINWAY_STAND_IN_CLOUD"
NO_SUCH_TYPE: Final = "no-such-type"
MACHINE_STEP: Final = "machine"
"""The step of `create` that is done once for each machine."""
SETTLED: Final = {
    MachineState.STARTING: MachineState.RUNNING,
    MachineState.STOPPING: MachineState.STOPPED,
    MachineState.ENDING: MachineState.ENDED,
}
"""What a machine comes to when somebody looks a second time."""


class Killed(BaseException):
    """The process that called was killed there; no `except Exception` may catch it."""


class Break(StrEnum):
    """What goes wrong in a step."""

    CAPACITY = "capacity"
    QUOTA = "quota"
    THROTTLED = "throttled"
    CREDENTIALS = "credentials"
    DENIED = "denied"
    UNREACHABLE = "unreachable"
    """Nothing was done, and nothing was answered."""
    LOST_ANSWER = "lost-answer"
    """It was done, and nothing was answered."""
    KILLED_BEFORE = "killed-before"
    KILLED_AFTER = "killed-after"


AFTER: Final = frozenset({Break.LOST_ANSWER, Break.KILLED_AFTER})
ERRORS: Final[Mapping[Break, tuple[Trouble, Scope, str]]] = {
    Break.CAPACITY: (Trouble.CAPACITY, Scope.ZONE, "there is no room for such machines now"),
    Break.QUOTA: (Trouble.QUOTA, Scope.REGION, "the quota does not allow so many machines"),
    Break.THROTTLED: (Trouble.THROTTLED, Scope.NONE, "too many requests"),
    Break.CREDENTIALS: (Trouble.CREDENTIALS, Scope.CLOUD, "the key has expired"),
    Break.DENIED: (Trouble.DENIED, Scope.CLOUD, "this user may not make machines"),
    Break.UNREACHABLE: (Trouble.UNREACHABLE, Scope.NONE, "the cloud does not answer"),
    Break.LOST_ANSWER: (Trouble.UNREACHABLE, Scope.NONE, "the cloud does not answer"),
}


@dataclass(frozen=True)
class Fault:
    """What shall go wrong, where and how often."""

    step: str
    """A call of the protocol (`create`, `end`, ...), or `machine`: one machine of a gang."""
    breaks: Break
    skip: int = 0
    """How often the step still goes well first."""
    times: int = 1
    region: str = ""
    zone: str = ""
    instance_type: str = ""

    def fits(self, step: str, where: Place, instance_type: str) -> bool:
        """Whether a step at this place is meant."""
        return (
            self.step == step
            and self.region in ("", where.region)
            and self.zone in ("", where.zone)
            and self.instance_type in ("", instance_type)
        )


class StandInCloud:
    """A provider, and what tests want to do to its cloud."""

    def __init__(
        self,
        file: Path | None = None,
        cloud: str = "stand-in",
        *,
        kills_for_real: bool | None = None,
    ) -> None:
        """`kills_for_real`: with SIGKILL, as who has the file by the variable; or by `Killed`."""
        self.cloud = cloud
        self._file = file or Path(os.environ[FILE_VARIABLE])
        self._kills_for_real = file is None if kills_for_real is None else kills_for_real
        self.lacks = {Ability.RESERVATIONS: "a stand-in cloud has none"}

    # What the protocol has.

    def missing(self) -> Mapping[Ability, str]:
        """It has no reservations, unless a test says so."""
        return self.lacks

    def check(self) -> Identity:
        """Its only account."""
        with self._step("check"):
            return Identity("stand-in-account", "tester", str(self._file))

    def regions(self) -> list[str]:
        """Two, if nobody has said otherwise."""
        with self._step("regions"):
            return list(self._read()["regions"])

    def quota(self, place: Place, instance_type: str, *, spot: bool) -> int | None:
        """What `limit_quota` has said, less what there is."""
        with self._step("quota", place, instance_type):
            limit = self._read()["quota"].get(f"{place.region}/{instance_type}/{spot}")
            if limit is None:
                return None
            having = [(each.instance_type, each.spot) for each in self.machines()]
            return max(0, int(limit) - having.count((instance_type, spot)))

    def create(self, request: GangRequest) -> list[Machine]:
        """One machine after the other, so that a gang may stay half."""
        where = Place(request.place.region, request.place.zone or f"{request.place.region}-a")
        if request.instance_type == NO_SUCH_TYPE:
            raise ProviderError(
                f"{self.cloud}: there is no type {NO_SUCH_TYPE}",
                trouble=Trouble.INVALID,
                scope=Scope.INSTANCE_TYPE,
            )
        with self._step("create", where, request.instance_type):
            with self._writing() as state:
                key = f"{request.owner}/{request.cluster}"
                state["rules"][where.region] = sorted({*state["rules"].get(where.region, []), key})
            try:
                self._fill(request, where)
            except ProviderError:
                made = self._of_token(request)
                self._change([each.id for each in made], MachineState.ENDED)
                raise
        return self._of_token(request)

    def find(self, region: str, owner: str, token: str = "") -> list[Machine]:
        """Those that are not ended; whoever starts has started the next time."""
        with self._step("find", Place(region)), self._writing() as state:
            found = []
            for each in state["machines"].values():
                fits = each["tags"].get(OWNER_TAG) == owner and each["region"] == region
                if fits and token in ("", each["tags"].get(TOKEN_TAG)):
                    self._settle(state, each)
                    found.append(_machine(each))
        return [each for each in found if each.state not in COSTS_NOTHING]

    def stop(self, region: str, machines: Sequence[str]) -> None:
        """They keep their place in the file."""
        with self._step("stop", Place(region)):
            self._change(machines, MachineState.STOPPED)

    def start(self, region: str, machines: Sequence[str]) -> None:
        """They get an address anew."""
        with self._step("start", Place(region)):
            self._change(machines, MachineState.STARTING)

    def end(self, region: str, machines: Sequence[str]) -> None:
        """They stay in the file, to be counted."""
        with self._step("end", Place(region)):
            self._change(machines, MachineState.ENDED)

    def release(self, region: str, owner: str, cluster: str) -> None:
        """Forget the rules of its firewall."""
        with self._step("release", Place(region)), self._writing() as state:
            rules = state["rules"].get(region, [])
            state["rules"][region] = [each for each in rules if each != f"{owner}/{cluster}"]

    def notices(self, region: str, machines: Sequence[str]) -> list[Notice]:
        """What `warn` has said."""
        with self._step("notices", Place(region)):
            found = self._read()["notices"]
            return [Notice(**found[each]) for each in machines if each in found]

    # What tests do.

    def machines(self) -> list[Machine]:
        """All that cost something, whoever has them."""
        found = [_machine(each) for each in self._read()["machines"].values()]
        return [each for each in found if each.state not in COSTS_NOTHING]

    def all_machines(self) -> list[Machine]:
        """Those that are ended too."""
        return [_machine(each) for each in self._read()["machines"].values()]

    def rules(self) -> list[str]:
        """What clusters have besides machines, as `owner/cluster`."""
        return sorted(each for found in self._read()["rules"].values() for each in found)

    def calls(self) -> list[str]:
        """The steps that were begun, oldest first."""
        return list(self._read()["calls"])

    def break_next(self, *faults: Fault) -> None:
        """Let steps go wrong, after those that were told before."""
        with self._writing() as state:
            state["faults"] += [asdict(each) for each in faults]

    def mend(self) -> None:
        """Nothing goes wrong any more."""
        with self._writing() as state:
            state["faults"] = []

    def offer_hosts(self, addresses: Sequence[str], user: str = "root") -> None:
        """The hosts that machines are: as many as run at once."""
        with self._writing() as state:
            state["hosts"] = list(addresses)
            state["user"] = user

    def limit_quota(
        self, region: str, instance_type: str, machines: int, *, spot: bool = False
    ) -> None:
        """How many machines of a type there may be."""
        with self._writing() as state:
            state["quota"][f"{region}/{instance_type}/{spot}"] = machines

    def warn(self, machine: str, at: str, why: str = "spot interruption") -> None:
        """Say that a machine will be taken."""
        with self._writing() as state:
            state["notices"][machine] = {"machine": machine, "at": at, "why": why}

    def take(self, machine: str, why: str = "spot interruption") -> None:
        """Take a machine, as clouds do with spot machines."""
        with self._writing() as state:
            state["machines"][machine].update(state=MachineState.ENDED, why=why)

    def add_foreign(self, region: str, **other_tags: str) -> str:
        """A machine that is not ours, and must stay whatever happens."""
        with self._writing() as state:
            place = Place(region, f"{region}-a")
            return _add(state, place, "foreign", spot=False, marks=other_tags)

    # How it is kept.

    def _fill(self, request: GangRequest, where: Place) -> None:
        having = {each.rank for each in self._of_token(request)}
        for rank in range(request.count):
            if rank in having:
                continue
            with (
                self._step(MACHINE_STEP, where, request.instance_type),
                self._writing() as state,
            ):
                marks = tags(request, rank)
                _add(state, where, request.instance_type, spot=request.spot, marks=marks)

    def _of_token(self, request: GangRequest) -> list[Machine]:
        found = [each for each in self.machines() if each.token == request.token]
        return sorted(found, key=lambda each: each.rank)

    def _change(self, machines: Sequence[str], wanted: MachineState) -> None:
        """To a state, if it may follow on that in which each is."""
        with self._writing() as state:
            for name in machines:
                each = state["machines"].get(name)
                if each and wanted in FOLLOWING[MachineState(each["state"])]:
                    each["state"] = wanted
                    each["address"] = ""

    def _settle(self, state: dict[str, Any], each: dict[str, Any]) -> None:
        now = MachineState(each["state"])
        each["state"] = SETTLED.get(now, now)
        if each["state"] == MachineState.RUNNING and not each["address"]:
            taken = {other["address"] for other in state["machines"].values() if _costs(other)}
            numbers = (f"10.0.{number // 250}.{number % 250 + 1}" for number in range(1_000_000))
            free = (each for each in state["hosts"] or numbers if each not in taken)
            each["address"], each["user"] = next(free), state["user"]

    @contextmanager
    def _step(self, name: str, where: Place | None = None, kind: str = "") -> Iterator[None]:
        """Do a step, unless it is told to go wrong."""
        fault = self._next_fault(name, where or Place(""), kind)
        if fault is not None and fault not in AFTER:
            self._break(fault)
        yield
        if fault is not None:
            self._break(fault)

    def _next_fault(self, step: str, where: Place, kind: str) -> Break | None:
        with self._writing() as state:
            state["calls"].append(step)
            for position, each in enumerate(state["faults"]):
                if not Fault(**each).fits(step, where, kind):
                    continue
                if each["skip"]:
                    each["skip"] -= 1
                    return None
                each["times"] -= 1
                if not each["times"]:
                    del state["faults"][position]
                return Break(each["breaks"])
        return None

    def _break(self, what: Break) -> NoReturn:
        if what in ERRORS:
            trouble, scope, message = ERRORS[what]
            raise ProviderError(f"{self.cloud}: {message}", trouble=trouble, scope=scope)
        if self._kills_for_real:
            os.kill(os.getpid(), signal.SIGKILL)
        raise Killed

    def _read(self) -> dict[str, Any]:
        if not self._file.exists():
            lists = {"regions": ["east", "west"], "faults": [], "hosts": [], "calls": []}
            return {
                **lists,
                "machines": {},
                "rules": {},
                "notices": {},
                "quota": {},
                "user": "root",
            }
        found: dict[str, Any] = json.loads(self._file.read_text())
        return found

    @contextmanager
    def _writing(self) -> Iterator[dict[str, Any]]:
        """Change what is kept, one after the other, and never by halves."""
        with self._file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self._read()
            yield state
            new = self._file.with_suffix(".new")
            new.write_text(json.dumps(state, indent=1))
            new.rename(self._file)


def _add(
    state: dict[str, Any], place: Place, kind: str, *, spot: bool, marks: Mapping[str, str]
) -> str:
    name = f"m-{len(state['machines']):05d}"
    state["machines"][name] = {
        "id": name,
        "region": place.region,
        "zone": place.zone,
        "instance_type": kind,
        "spot": spot,
        "state": MachineState.STARTING,
        "address": "",
        "user": "",
        "why": "",
        "tags": dict(marks),
    }
    return name


def _machine(kept: Mapping[str, Any]) -> Machine:
    marks = kept["tags"]
    return Machine(
        id=kept["id"],
        token=marks.get(TOKEN_TAG, ""),
        cluster=marks.get(CLUSTER_TAG, ""),
        rank=int(marks.get(RANK_TAG, 0)),
        place=Place(kept["region"], kept["zone"]),
        state=MachineState(kept["state"]),
        instance_type=kept["instance_type"],
        spot=kept["spot"],
        public_address=kept["address"],
        private_address=kept["address"],
        user=kept["user"],
        why=kept["why"],
    )


def _costs(kept: Mapping[str, Any]) -> bool:
    return MachineState(kept["state"]) not in COSTS_NOTHING
