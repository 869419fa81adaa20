"""The phases in which a TrainJob becomes objects, and the plugins that take part in them.

A plugin implements the phases it needs, each a small interface. Within a phase plugins run by
`order`, then by name; the order in which they were registered never matters. Another package adds
one through the entry-point group `trainway.plugins`, whose entries are plugin classes.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from trainway.compiler.workload import Workload
from trainway.errors import TrainwayError
from trainway.json_types import Json
from trainway.schema.field import FieldError

ENTRY_POINT_GROUP = "trainway.plugins"


class Plugin(Protocol):
    """What every plugin has."""

    @property
    def name(self) -> str:
        """Unique among all plugins."""
        ...

    @property
    def order(self) -> int:
        """Lower runs earlier. The built-in plugins use the hundreds."""
        ...


@runtime_checkable
class Validates(Protocol):
    """Phase 1: whether this job may run on this runtime."""

    def validate(self, workload: Workload) -> Iterable[FieldError]:
        """Every reason why not."""
        ...


@runtime_checkable
class EnforcesMLPolicy(Protocol):
    """Phase 2: counts, environment and volumes that a framework needs."""

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Change the roles."""
        ...


@runtime_checkable
class EnforcesPodGroupPolicy(Protocol):
    """Phase 3: marks by which a gang scheduler knows the pods."""

    def enforce_pod_group_policy(self, workload: Workload) -> None:
        """Change the pod templates' metadata."""
        ...


@runtime_checkable
class EnforcesPodSpec(Protocol):
    """Phase 4: what concerns pods whatever the framework."""

    def enforce_pod_spec(self, workload: Workload) -> None:
        """Change the pod templates."""
        ...


@runtime_checkable
class Builds(Protocol):
    """Phase 5: the objects to create."""

    def build(self, workload: Workload) -> Iterable[Json]:
        """Objects that belong to the job."""
        ...


class PluginError(TrainwayError):
    """A plugin cannot be used as it is."""

    code = "plugin"


class Framework:
    """A fixed set of plugins and the phases they go through."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self.plugins: Sequence[Plugin] = sorted(plugins, key=lambda p: (p.order, p.name))
        names = [plugin.name for plugin in self.plugins]
        for name in names:
            if names.count(name) > 1:
                raise PluginError(
                    f"two plugins are called {name!r}", hint="rename or uninstall one of them"
                )
        self._validators = [p for p in self.plugins if isinstance(p, Validates)]
        self._ml_policy = [p for p in self.plugins if isinstance(p, EnforcesMLPolicy)]
        self._pod_group = [p for p in self.plugins if isinstance(p, EnforcesPodGroupPolicy)]
        self._pod_spec = [p for p in self.plugins if isinstance(p, EnforcesPodSpec)]
        self._builders = [p for p in self.plugins if isinstance(p, Builds)]

    def validate(self, workload: Workload) -> list[FieldError]:
        """All reasons why the job may not run on its runtime."""
        return [error for plugin in self._validators for error in plugin.validate(workload)]

    def build(self, workload: Workload) -> list[Json]:
        """Run the phases that change the workload, then collect its objects."""
        for ml in self._ml_policy:
            ml.enforce_ml_policy(workload)
        for group in self._pod_group:
            group.enforce_pod_group_policy(workload)
        for spec in self._pod_spec:
            spec.enforce_pod_spec(workload)
        return [obj for plugin in self._builders for obj in plugin.build(workload)]
