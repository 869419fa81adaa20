"""What the API tells of the server itself and of its backends."""

from pydantic import BaseModel, ConfigDict, Field

from trainway.json_types import Json
from trainway.server.models import Shown


class Health(Shown):
    """Whether the server works."""

    status: str
    version: str
    pid: int


class JobCounts(Shown):
    """How many jobs there are."""

    active: int
    total: int


class TokenPlace(Shown):
    """Where the token is that is needed over TCP."""

    file: str
    given: bool = Field(description="whether the server was started with it, and cannot replace it")


class ServerStatus(Shown):
    """The server itself."""

    pid: int
    socket: str
    version: str
    started: str
    jobs: JobCounts
    home: str = Field(description="where it keeps everything")
    database: str = Field(description="`sqlite` or `postgresql`")
    token: TokenPlace


class Token(Shown):
    """What to show over TCP from now on."""

    token: str


class BackendName(Shown):
    """Where jobs can run."""

    name: str


class BackendNames(Shown):
    """All backends."""

    items: list[BackendName]


class BackendCheck(BaseModel):
    """What to look at."""

    model_config = ConfigDict(extra="forbid")

    kubeconfig: tuple[str, ...] = Field(
        (), description="absolute paths of kubeconfig files, whose clusters are looked at too"
    )
    deep: bool = Field(False, description="whether short jobs may be run to find out")
    backend: str = Field("", max_length=253, description="this one only; empty: all of them")


class BackendList(Shown):
    """Backends, what they have, and what doctor says about them."""

    items: list[Json]
