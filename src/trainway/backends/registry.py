"""Finds backends by name, and imports one only when it is used.

The table of families (`trainway.families`) says which there are and which class a family has. There
is a backend for each place of a family, and the same place of another kubeconfig is another backend
where the family reads one. Another package adds a row through the entry-point group
`trainway.families`. One that cannot be loaded is reported by `trainway doctor` and hurts nobody
else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Protocol

from trainway.backends import capabilities
from trainway.backends.base import Backend, BackendSettings, Handle
from trainway.backends.file_store import FileStore
from trainway.backends.missing import MissingBackend
from trainway.errors import NotFoundError, TrainwayError
from trainway.families.builtin import BUILTIN
from trainway.families.clouds import CLOUDS
from trainway.families.family import Carried, Family
from trainway.families.table import BackendError, family_of, installed_names, name_of, spelled
from trainway.schema.validation import closest

if TYPE_CHECKING:
    from trainway.backends.pool.cluster_agents import ClusterAgents


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
        self._families: dict[str, Family] = {}
        self._making = RLock()
        """Held by the one thread that makes a backend, which may ask for others meanwhile."""
        self.files = FileStore(settings.home)
        """What was sent ahead of jobs, for all backends."""

    @property
    def home(self) -> Path:
        """The home directory of the server."""
        return self._settings.home

    def names(self) -> list[str]:
        """All families that can be asked for, ours first."""
        return [*BUILTIN, *installed_names()]

    def get(self, name: str, kubeconfig: Iterable[str] = ()) -> Backend:
        """The backend of that name, as whoever has these kubeconfig files sees it."""
        name = spelled(name)
        _, _, target = name.partition("/")
        family = self._family(name)
        files = tuple(kubeconfig) if Carried.KUBECONFIG in family.carries else ()
        with self._making:
            if (name, files) not in self._made:
                settings = replace(
                    self._settings,
                    family=family.name,
                    target=target,
                    kubeconfig=files,
                    backends=self.get,
                )
                self._made[name, files] = self._new(family, name, settings)
            return self._made[name, files]

    def of(self, name: str, handle: Handle) -> Backend:
        """The backend that a job was given to."""
        return self.get(name, handle.get("kubeconfig") or ())

    def of_stored(self, name: str, handle: Handle) -> Backend:
        """The same, for a job that is to be shown and deleted also where the backend is missing."""
        try:
            return self.of(name, handle)
        except TrainwayError as error:
            return MissingBackend(name, error)

    def put(self, backend: Backend) -> None:
        """Use a backend that is made already."""
        self._made[backend.name, ()] = backend

    def cluster_agents(self) -> "ClusterAgents":
        """Those who keep clusters."""
        from trainway.backends.pool.cluster_agents import ClusterAgents  # noqa: PLC0415 - seldom needed
        from trainway.backends.pool.holders import Holders  # noqa: PLC0415 - as above

        return ClusterAgents(self._settings.home, Holders(self.get))

    def keepers(self) -> list[str]:
        """The backends that may have jobs in the home directory which the store has lost."""
        home = self._settings.home
        rows = BUILTIN.values()
        return [row.name for row in rows if row.jobs_folder and (home / row.jobs_folder).is_dir()]

    def infras(self, kubeconfig: Iterable[str] = ()) -> list[str]:
        """Every place where a job can run, each under its own name; a family once for each."""
        return [place for name in self.names() for place in self._places(name, kubeconfig)]

    def _places(self, name: str, kubeconfig: Iterable[str]) -> list[str]:
        try:
            has_places = self._family(name).places is not None
            return capabilities.places(self.get(name, kubeconfig)) if has_places else [name]
        except BackendError:  # whoever asks for it is told
            return [name]

    def api_requests(self) -> list[tuple[str, Mapping[tuple[str, str], int]]]:
        """What API servers have answered to all backends that talk to one."""
        asking = [
            one for one in [*self._made.values()] if isinstance(one, capabilities.AsksApiServers)
        ]
        return [asked for backend in asking for asked in backend.api_requests()]

    async def close(self) -> None:
        """Let go of all connections."""
        for backend in [*self._made.values()]:
            await capabilities.close(backend)

    def _family(self, place: str) -> Family:
        name = name_of(place)
        if name not in self._families:
            self._families[name] = family_of(name)
        return self._families[name]

    def _new(self, family: Family, name: str, settings: BackendSettings) -> Backend:
        made = self._load(family, name)
        try:
            return made(settings)
        except TrainwayError:
            raise
        except Exception as error:  # whatever the other package raises
            raise _unusable(name, error) from error

    def _load(self, family: Family, name: str) -> BackendClass:
        if not family.backend or (family.places is None and name != family.name):
            meant = closest(family.name, [*self.names(), *CLOUDS])
            asked = f"; did you mean {meant}?" if meant and meant != family.name else ""
            raise NotFoundError(
                f"there is no backend {name!r}{asked}",
                field="options.backend",
                hint=f"there are: {', '.join(self.names())}, and clouds: {', '.join(CLOUDS)}; "
                "a pool of hosts is ssh/POOL, and a Slurm cluster is slurm/CLUSTER",
            )
        module, _, attribute = family.backend.partition(":")
        try:
            loaded: BackendClass = getattr(import_module(module), attribute)
        except Exception as error:  # whatever the other package raises
            raise _unusable(name, error) from error
        return loaded


def _unusable(name: str, error: Exception) -> BackendError:
    return BackendError(
        f"the backend {name!r} cannot be loaded: {error}",
        hint="reinstall the package that brings it",
    )
