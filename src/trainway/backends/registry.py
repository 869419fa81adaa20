"""Finds backends by name, and imports one only when it is used.

Ours are in a table. Some of them are families: `k8s/CONTEXT/NAMESPACE`, `ssh/POOL` and
`slurm/CLUSTER/PARTITION` are a backend for each place, and the same place of another kubeconfig is
another backend. Another package adds one through the entry-point group `trainway.backends`, whose
entries are classes that take `BackendSettings`. One that cannot be loaded is reported by `trainway
doctor` and hurts nobody else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

from trainway.backends.base import Backend, BackendSettings, Handle
from trainway.errors import NotFoundError, TrainwayError

if TYPE_CHECKING:
    from trainway.backends.cluster.agents import ClusterAgents

ENTRY_POINT_GROUP: Final = "trainway.backends"

BUILTIN: Final[Mapping[str, str]] = {
    "local": "trainway.backends.local.backend:LocalBackend",
    "k8s": "trainway.backends.kubernetes.backend:KubernetesBackend",
    "ssh": "trainway.backends.ssh.backend:SshBackend",
    "slurm": "trainway.backends.slurm.backend:SlurmBackend",
    "cluster": "trainway.backends.cluster.backend:ClusterBackend",
}
FAMILIES: Final = frozenset({"k8s", "ssh", "slurm", "cluster"})
"""Backends whose name goes on with a place."""
_CLUSTERS: Final = "k8s"
"""The family whose places depend on the kubeconfig."""


class BackendError(TrainwayError):
    """A backend cannot be used."""

    code = "backend"
    http_status = 503


class BackendClass(Protocol):
    """What an entry point names."""

    def __call__(self, settings: BackendSettings) -> Backend:
        """Make the backend. It must not talk to anything yet."""
        ...


class Registry:
    """The backends of one server, each made at most once."""

    def __init__(self, settings: BackendSettings) -> None:
        self._settings = settings
        self._made: dict[tuple[str, tuple[str, ...]], Backend] = {}

    def names(self) -> list[str]:
        """All that can be asked for, ours first."""
        return [*BUILTIN, *sorted(set(_entry_points()) - set(BUILTIN))]

    def get(self, name: str, kubeconfig: Iterable[str] = ()) -> Backend:
        """The backend of that name, as whoever has these kubeconfig files sees it."""
        name = "/".join(part for part in name.split("/") if part)
        family, _, target = name.partition("/")
        files = tuple(kubeconfig) if family == _CLUSTERS else ()
        if (name, files) not in self._made:
            settings = replace(self._settings, target=target, kubeconfig=files)
            made = self._load(family if family in FAMILIES else name)(settings)
            self._made[name, files] = made
        return self._made[name, files]

    def of(self, name: str, handle: Handle) -> Backend:
        """The backend that a job was given to."""
        return self.get(name, handle.get("kubeconfig") or ())

    def put(self, backend: Backend) -> None:
        """Use a backend that is made already."""
        self._made[backend.name, ()] = backend

    def cluster_agents(self) -> "ClusterAgents":
        """Those who keep clusters."""
        from trainway.backends.cluster.agents import ClusterAgents  # noqa: PLC0415 - seldom needed

        return ClusterAgents(self._settings.home)

    def keepers(self) -> list[str]:
        """The backends that may have jobs in the home directory which the store has lost."""
        folders = {"ssh": "pools", "slurm": "slurm"}
        used = [name for name, folder in folders.items() if (self._settings.home / folder).is_dir()]
        return ["local", *used]

    def infras(self, kubeconfig: Iterable[str] = ()) -> list[str]:
        """Every place where a job can run, each under its own name; a family once for each."""
        names = [
            self.get(name, kubeconfig).places() if name in FAMILIES else [name]
            for name in self.names()
        ]
        return [name for places in names for name in places]

    async def close(self) -> None:
        """Let go of all connections."""
        for backend in self._made.values():
            await backend.close()

    def _load(self, name: str) -> BackendClass:
        target = BUILTIN.get(name) or _entry_points().get(name)
        if target is None:
            known = ", ".join(self.names())
            raise NotFoundError(
                f"there is no backend {name!r}", field="options.backend", hint=f"there are: {known}"
            )
        module, _, attribute = target.partition(":")
        try:
            loaded: BackendClass = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise BackendError(
                f"the backend {name!r} cannot be loaded: {error}",
                hint="reinstall the package that brings it",
            ) from error
        return loaded


def _entry_points() -> dict[str, str]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and seldom needed

    return {entry.name: entry.value for entry in entry_points(group=ENTRY_POINT_GROUP)}
