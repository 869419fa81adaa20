"""The built-in plugins, and those that other packages bring."""

import importlib.metadata
from functools import cache

from trainway.compiler.framework import ENTRY_POINT_GROUP, Framework, Plugin, PluginError
from trainway.compiler.plugins.coscheduling import CoScheduling
from trainway.compiler.plugins.flux import Flux
from trainway.compiler.plugins.initializers import Initializers
from trainway.compiler.plugins.jax import JAX
from trainway.compiler.plugins.jobset import JobSet
from trainway.compiler.plugins.mpi import MPI
from trainway.compiler.plugins.patches import Patches
from trainway.compiler.plugins.plainml import PlainML
from trainway.compiler.plugins.torch import Torch
from trainway.compiler.plugins.torchtune import TorchTune
from trainway.compiler.plugins.volcano import Volcano
from trainway.compiler.plugins.xgboost import XGBoost


def built_in_plugins() -> list[Plugin]:
    """The plugins of Trainway, but for `Progress`, which needs an endpoint."""
    return [
        Initializers(),
        PlainML(),
        Torch(),
        TorchTune(),
        JAX(),
        XGBoost(),
        MPI(),
        Flux(),
        CoScheduling(),
        Volcano(),
        Patches(),
        JobSet(),
    ]


def installed_plugins() -> list[Plugin]:
    """Plugins of other packages: the entry points of the group `trainway.plugins`."""
    plugins = []
    for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        try:
            plugins.append(entry.load()())
        except Exception as error:
            raise PluginError(
                f"plugin {entry.name!r} ({entry.value}) cannot be loaded: {error}",
                hint="update or uninstall the package that provides it",
            ) from error
    return plugins


@cache
def default_framework() -> Framework:
    """All plugins that are there."""
    return Framework([*built_in_plugins(), *installed_plugins()])
