import importlib.metadata
import itertools
from collections.abc import Iterator

import pytest

from trainway.api.kinds import read
from trainway.api.runtime import ClusterTrainingRuntime
from trainway.api.trainjob import TrainJob
from trainway.compiler.framework import Framework, PluginError
from trainway.compiler.keys import FixedKeys
from trainway.compiler.registry import built_in_plugins, installed_plugins
from trainway.compiler.testing import runtime, trainjob
from trainway.compiler.trainjob import Target, compile_trainjob
from trainway.compiler.workload import Workload
from trainway.json_types import Json


class Marks:
    def __init__(self, name: str, order: int) -> None:
        self.name = name
        self.order = order

    def enforce_ml_policy(self, workload: Workload) -> None:
        workload.annotations["marks"] = workload.annotations.get("marks", "") + self.name

    def build(self, workload: Workload) -> Iterator[Json]:
        yield {"kind": "Mark", "by": self.name, "seen": workload.annotations["marks"]}


def objects(framework: Framework) -> list[Json]:
    job, rt = read(trainjob({"numNodes": 2})), read(runtime({"torch": {}}))
    assert isinstance(job, TrainJob)
    assert isinstance(rt, ClusterTrainingRuntime)
    return compile_trainjob(job, rt, Target(keys=FixedKeys(), framework=framework)).objects


def test_plugins_run_by_order_then_name_however_they_are_registered() -> None:
    plugins = [Marks("c", 1), Marks("a", 2), Marks("b", 2)]
    for permutation in itertools.permutations(plugins):
        marks = objects(Framework(permutation))
        assert [mark["by"] for mark in marks] == ["c", "a", "b"]
        assert {mark["seen"] for mark in marks} == {"cab"}


def test_two_plugins_of_one_name_are_refused() -> None:
    with pytest.raises(PluginError, match="two plugins are called 'a'"):
        Framework([Marks("a", 1), Marks("a", 2)])


def test_built_in_names_and_orders_are_unique() -> None:
    plugins = built_in_plugins()
    assert len({plugin.name for plugin in plugins}) == len(plugins)
    assert len({plugin.order for plugin in plugins}) == len(plugins)


class Entry:
    name = "mine"
    value = "package:Mine"

    def __init__(self, plugin: type | None) -> None:
        self._plugin = plugin

    def load(self) -> type:
        if self._plugin is None:
            raise ImportError("no module named package")
        return self._plugin


class Mine(Marks):
    def __init__(self) -> None:
        super().__init__("Mine", 5000)


def test_other_packages_add_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Entry(Mine)])
    marks = objects(Framework([*built_in_plugins(), *installed_plugins()]))
    assert marks[-1] == {"kind": "Mark", "by": "Mine", "seen": "Mine"}


def test_a_broken_plugin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Entry(None)])
    with pytest.raises(PluginError, match=r"plugin 'mine' \(package:Mine\) cannot be loaded"):
        installed_plugins()
