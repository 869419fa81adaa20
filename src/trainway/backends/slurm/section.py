"""Clusters that Slurm schedules, as `config.yaml` or `~/.slurm/config` describes them. Pure.

Without a login node a cluster is that of this machine: whoever can call `sbatch` here needs to say
nothing at all.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from trainway.agent.slurm.relay.login import HOME
from trainway.agent.transfer.ssh_command import shell_path
from trainway.backends.login import login_fields
from trainway.backends.login.client_config import words_of
from trainway.backends.masking import is_confidential
from trainway.backends.slurm import options
from trainway.backends.slurm.options import Value
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, invalid, key_step
from trainway.schema.shape import TEXT, Anything, Flag, Record, Table, Text, Word, check

PYXIS: Final = "pyxis"
APPTAINER: Final = "apptainer"
SINGULARITY: Final = "singularity"
"""What Apptainer was called once, and on many clusters still is."""
NONE: Final = "none"
TOOLS: Final = (PYXIS, APPTAINER, SINGULARITY, NONE)

_CLUSTER: Final = Record(
    {
        "login": login_fields.HOST_NAME,
        **login_fields.LOGIN,
        "home": Text(r"(~/|/).*", "must be a path that begins with / or ~/"),
        "shared": Flag(),
        "partition": Text(r"\S+", "must be the name of a partition"),
        "account": Text(r"\S+", "must be the name of an account"),
        "sbatch_options": Table(Anything(), nullable=True, says="an object"),
        "containers": Word(TOOLS, any_case=False),
        "gpu_types": Table(TEXT),
        "outputs": login_fields.OUTPUTS,
        "rest": Record({"url": TEXT, "token_file": TEXT}, needs=("url",)),
    }
)
SHAPE: Final = Table(_CLUSTER, key=login_fields.NAME, nullable=True)
_HOST: Final = re.compile(login_fields.NAME)


@dataclass(frozen=True)
class ConfiguredCluster:
    """One cluster."""

    name: str
    login: str = ""
    """Its login node, as ssh knows it; empty: this machine is one."""
    port: int = 0
    identity: str = ""
    ssh_options: tuple[str, ...] = ()
    python: str = login_fields.PYTHON
    home: str = HOME
    shared: bool = True
    """Whether all nodes see what is in `home`."""
    partition: str = ""
    options: Mapping[str, Value] = field(default_factory=dict)
    """The options of sbatch for every job; the account is among them."""
    env: Mapping[str, str] = field(default_factory=dict)
    containers: str = ""
    """What runs images; empty: whatever is found there."""
    gpu_types: Mapping[str, str] = field(default_factory=dict)
    """The names that the cluster has for sorts of GPUs."""
    outputs: str = login_fields.COPY
    rest: Mapping[str, str] = field(default_factory=dict)

    def at(self, partition: str) -> "ConfiguredCluster":
        """The same, with another partition where one is named."""
        return replace(self, partition=partition) if partition else self

    def through(self, login: "ConfiguredCluster | None") -> "ConfiguredCluster":
        """The same, reached as that one is, unless it says itself how."""
        if login is None or self.login:
            return self
        options = (*login.ssh_options, *self.ssh_options)
        return replace(self, login=login.login, ssh_options=options)

    def to_dict(self) -> Json:
        """As its relay is told of it, and as the store keeps it: without secrets."""
        found: Json = {
            "name": self.name,
            "login": self.login,
            "destination": self.login,
            "port": self.port,
            "identity": self.identity,
            "options": list(self.ssh_options),
            "python": self.python,
            "home": "" if self.home == HOME else self.home,
            "env": {name: text for name, text in self.env.items() if not is_confidential(name)},
        }
        if not self.shared:
            found["shared"] = False
        return found | ({"rest": dict(self.rest)} if self.rest else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], partition: str = "") -> "ConfiguredCluster":
        """What `to_dict` wrote, for a job whose cluster is configured no more."""
        return cls(
            name=str(data["name"]),
            login=str(data["login"]),
            port=int(data["port"]),
            identity=str(data["identity"]),
            ssh_options=tuple(data["options"]),
            python=str(data["python"]),
            home=str(data["home"]) or HOME,
            shared=bool(data.get("shared", True)),
            partition=partition,
            env=dict(data["env"]),
            rest=dict(data.get("rest") or {}),
        )

    def directory(self, job_id: str) -> str:
        """Where a job is kept there, in the words of a shell."""
        return shell_path(f"{self.home.rstrip('/')}/jobs/{job_id}")

    def array_directory(self, array_id: str) -> str:
        """Where the directories of an array are found under their ranks."""
        return shell_path(f"{self.home.rstrip('/')}/arrays/{array_id}")

    def batch_options(self) -> dict[str, Value]:
        """What sbatch is told for every job."""
        chosen: dict[str, Value] = {"partition": self.partition} if self.partition else {}
        return options.merged(self.options, chosen)


def errors(data: Mapping[str, Any], path: Path) -> Iterator[FieldError]:
    """Everything that is wrong with the section `clusters`."""
    found = list(check(SHAPE, data, path))
    yield from found
    if found:
        return
    for name, cluster in data.items():
        place = (*path, key_step(name), "sbatch_options")
        given = (cluster or {}).get("sbatch_options") or {}
        for text in options.errors(given):
            key, _, said = text.partition(": ")
            yield invalid((*place, key_step(key)), given.get(key), said)


def clusters_of(data: Mapping[str, Any], home: str) -> dict[str, ConfiguredCluster]:
    """The clusters of a section in which nothing is wrong; `home` is what `~` stands for here."""
    return {name: _cluster(name, cluster or {}, home) for name, cluster in data.items()}


def login_nodes(text: str, file: str) -> dict[str, ConfiguredCluster]:
    """The clusters of a file in the form of ssh's: each `Host` is a login node."""
    found: dict[str, ConfiguredCluster] = {}
    for line in text.splitlines():
        keyword, *names = words_of(line) or [""]
        if keyword == "host":
            fitting = [name for name in names if _HOST.fullmatch(name)]
            found |= {
                name: ConfiguredCluster(name, name, ssh_options=("-F", file)) for name in fitting
            }
    return found


def _cluster(name: str, data: Mapping[str, Any], home: str) -> ConfiguredCluster:
    login, user = str(data.get("login") or ""), data.get("user")
    account = {"account": str(data["account"])} if data.get("account") else {}
    return ConfiguredCluster(
        name=name,
        login=f"{user}@{login}" if user and login and "@" not in login else login,
        port=int(data.get("port") or 0),
        identity=login_fields.expanded(data.get("identity") or "", home),
        ssh_options=login_fields.all_expanded(data.get("options") or (), home),
        python=str(data.get("python") or login_fields.PYTHON),
        home=str(data.get("home") or HOME),
        shared=bool(data.get("shared", True)),
        partition=str(data.get("partition") or ""),
        options=options.merged(account, options.read(data.get("sbatch_options") or {})),
        env=login_fields.variables(data.get("env") or {}),
        containers=str(data.get("containers") or ""),
        gpu_types=dict(data.get("gpu_types") or {}),
        outputs=str(data.get("outputs") or login_fields.COPY),
        rest={
            key: login_fields.expanded(value, home)
            for key, value in (data.get("rest") or {}).items()
        },
    )
