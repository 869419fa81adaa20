"""What every cloud implements: machines that come and go, a gang at a time.

The engine knows clouds only through this protocol. It writes down what it is about to ask for
before it asks (`GangRequest.token`), so every call may be repeated after a crash: `create` with a
token that was used finds what that made. Calls block, and are made in threads.

What a provider makes carries the tags of `tags`, by which it is found again even if everything that
was known of it is lost. Nothing without them is ever ended.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol, runtime_checkable

OWNER_TAG: Final = "trainway-server"
CLUSTER_TAG: Final = "trainway-cluster"
TOKEN_TAG: Final = "trainway-token"  # noqa: S105 - the name of a tag
RANK_TAG: Final = "trainway-rank"


class Ability(StrEnum):
    """What a cloud may or may not be able to do."""

    STOP = "stop"
    SPOT = "spot"
    SPOT_NOTICE = "spot-notice"
    SEVERAL_NODES = "several-nodes"
    OPEN_PORTS = "open-ports"
    IMAGES = "images"
    DISK_SIZE = "disk-size"
    DISK_TIER = "disk-tier"
    RESERVATIONS = "reservations"
    FAST_NETWORK = "fast-network"
    QUOTA = "quota"
    END_BY_SHUTDOWN = "end-by-shutdown"
    """A machine that shuts itself down is ended, and costs nothing from then on."""
    STOP_BY_SHUTDOWN = "stop-by-shutdown"
    """A machine that shuts itself down is stopped, and costs no more than its disk."""
    JOB_CREDENTIALS = "job-credentials"
    """Jobs may be given credentials that expire soon, if the user wants that."""


class MachineState(StrEnum):
    """Where a machine is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    ENDING = "ending"
    ENDED = "ended"


FOLLOWING: Final[Mapping[MachineState, frozenset[MachineState]]] = {
    MachineState.STARTING: frozenset(MachineState) - {MachineState.STARTING},
    MachineState.RUNNING: frozenset(
        {
            MachineState.STOPPING,
            MachineState.STOPPED,
            MachineState.ENDING,
            MachineState.ENDED,
        }
    ),
    MachineState.STOPPING: frozenset(
        {MachineState.STOPPED, MachineState.ENDING, MachineState.ENDED}
    ),
    MachineState.STOPPED: frozenset(
        {MachineState.STARTING, MachineState.RUNNING, MachineState.ENDING, MachineState.ENDED}
    ),
    MachineState.ENDING: frozenset({MachineState.ENDED}),
    MachineState.ENDED: frozenset(),
}
"""What may follow what."""

COSTS_NOTHING: Final = frozenset({MachineState.ENDING, MachineState.ENDED})
"""The states in which a machine is as good as gone."""


@dataclass(frozen=True)
class Identity:
    """Whose credentials are used."""

    account: str
    """The account, project or subscription."""
    user: str = ""
    source: str = ""
    """Where the credentials were found, for people; never their value."""


@dataclass(frozen=True)
class Place:
    """Where machines are."""

    region: str
    zone: str = ""
    """Empty: any zone of the region."""


@dataclass(frozen=True)
class GangRequest:
    """Machines that are wanted together, or not at all."""

    token: str
    """Names this request and no other; a repeated one finds what the first has made."""
    owner: str
    """The id of the server that asks."""
    cluster: str
    place: Place
    instance_type: str
    count: int
    public_key: str
    """The key, as a line of `authorized_keys`, with which the server gets in by ssh."""
    host_key: str = field(default="", repr=False)
    """The private host key that machines start with, if the cloud takes user data; empty: they make
    one. It is a secret."""
    spot: bool = False
    accelerator: str = ""
    """The accelerators that each machine has, as a catalog calls them: `T4`."""
    accelerator_count: int = 0
    image: str = ""
    """Empty: the provider's choice for the type."""
    disk_gib: int = 0
    """0: the provider's choice."""
    disk_tier: str = ""
    ports: Sequence[str] = ()
    """Ports that are open to the world, `8080` or `8000-8010`."""
    reservation: str = ""
    ends_by_shutdown: bool = True
    """Whether a machine that shuts down is ended; otherwise it is stopped."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What the user wants to see as tags beside ours."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The cloud's section of config.yaml: networks, key pairs, profiles that are given."""

    @property
    def name(self) -> str:
        """What machines are called where people see them."""
        return f"trainway-{self.cluster}"


@dataclass(frozen=True)
class Machine:
    """A machine of ours, as its cloud shows it."""

    id: str
    token: str
    """The request that it was made for; empty: its tag cannot be read."""
    cluster: str
    rank: int
    place: Place
    state: MachineState
    instance_type: str = ""
    spot: bool = False
    public_address: str = ""
    private_address: str = ""
    ssh_port: int = 22
    user: str = ""
    """Who one is there."""
    why: str = ""
    """Why it is in its state, in the cloud's words."""
    launched: str = ""
    """Since when it costs something, as an ISO 8601 time in UTC; empty: the cloud does not say."""


@dataclass(frozen=True)
class Notice:
    """A cloud is about to take a machine back."""

    machine: str
    at: str
    """When, as an ISO 8601 time in UTC."""
    why: str = ""


@dataclass(frozen=True)
class JobCredentials:
    """Credentials for jobs, as files on their machines."""

    files: Mapping[str, str] = field(repr=False)
    """What is in each; `{folder}` stands for the folder that they are in."""
    variables: Mapping[str, str]
    """Variables of jobs, and the file that each names."""
    expires: datetime


class TellsEnds(Protocol):
    """A provider whose cloud says when machines have stopped or ended; others need not have it."""

    def ends(self, region: str, machines: Sequence[str]) -> Mapping[str, str]:
        """When each of them ceased to cost something, as an ISO 8601 time in UTC.

        Those that run, and those that the cloud has forgotten, are left out.
        """
        ...


class TellsWhoEnded(Protocol):
    """A provider whose cloud says who ended a machine; others need not have it."""

    def ended_by_others(self, region: str, machines: Sequence[str]) -> Mapping[str, str]:
        """Those that their cloud has not taken: somebody ended them, or they shut down.

        Each with what the cloud says of it.
        """
        ...


def living(machines: Iterable[Machine]) -> list[Machine]:
    """Those that are not as good as gone, by their clusters and ranks."""
    found = [each for each in machines if each.state not in COSTS_NOTHING]
    return sorted(found, key=lambda each: (each.cluster, each.token, each.rank))


def tags(request: GangRequest, rank: int) -> dict[str, str]:
    """What marks a machine as ours."""
    return {
        **request.labels,
        "Name": f"{request.name}-{rank}",
        OWNER_TAG: request.owner,
        CLUSTER_TAG: request.cluster,
        TOKEN_TAG: request.token,
        RANK_TAG: str(rank),
    }


class Provider(Protocol):
    """One cloud. What it raises is a `ProviderError`, which says what not to try again."""

    cloud: str
    """The name of the cloud, as in a catalog: `aws`."""

    def missing(self) -> Mapping[Ability, str]:
        """What it cannot do, and why."""
        ...

    def check(self) -> Identity:
        """See whether the credentials are good; raises what is wrong with them."""
        ...

    def regions(self) -> list[str]:
        """The regions in which this account may have machines."""
        ...

    def quota(self, place: Place, instance_type: str, *, spot: bool) -> int | None:
        """How many more such machines are allowed; None: the cloud does not say."""
        ...

    def create(self, request: GangRequest) -> list[Machine]:
        """Make all machines of a gang, or none: what was made of less is ended again."""
        ...

    def find(self, region: str, owner: str, token: str = "") -> list[Machine]:
        """All machines of a server, or of one request, that are not ended."""
        ...

    def stop(self, region: str, machines: Sequence[str]) -> None:
        """Stop machines; they keep their disks."""
        ...

    def start(self, region: str, machines: Sequence[str]) -> None:
        """Start stopped machines."""
        ...

    def end(self, region: str, machines: Sequence[str]) -> None:
        """End machines for good; one that is gone already is no error."""
        ...

    def release(self, region: str, owner: str, cluster: str) -> None:
        """Give back what else was made for a cluster, such as rules of a firewall."""
        ...

    def notices(self, region: str, machines: Sequence[str]) -> list[Notice]:
        """Which of them their cloud is about to take back."""
        ...


@runtime_checkable
class LendsCredentials(Protocol):
    """What a cloud implements beside `Provider` if it has credentials that expire soon."""

    def job_credentials(self, settings: Mapping[str, str], cluster: str) -> JobCredentials | None:
        """New ones for the jobs of a cluster; None: the settings do not ask for any."""
        ...
