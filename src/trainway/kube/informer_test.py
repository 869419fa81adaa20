import logging
from pathlib import Path

import pytest

from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import Connection, Endpoint
from trainway.kube.credentials import Plain
from trainway.kube.informer import Change, Informer
from trainway.kube.informers import Informers
from trainway.kube.kubeconfig import Section
from trainway.kube.resources import CONFIG_MAPS, JOBS, NAMESPACES


def _client() -> Client:
    """Never opened: what is tested here needs no server."""
    return Client(Connection(Endpoint("https://nowhere.invalid"), Plain(Section("", Path(), {}))))


def _object(name: str, data: str = "", namespace: str = "n") -> Json:
    return {"metadata": {"name": name, "namespace": namespace}, "data": data}


class _Heard:
    def __init__(self) -> None:
        self.changes: list[Change] = []

    def __call__(self, change: Change) -> None:
        self.changes.append(change)

    def take(self) -> list[tuple[str, str]]:
        heard: list[tuple[str, str]] = [(change.kind, change.key) for change in self.changes]
        self.changes = []
        return heard


def test_changes_carry_what_was_and_what_is() -> None:
    informer, heard = Informer(_client(), CONFIG_MAPS), _Heard()
    informer.add_handler(heard)
    informer.put(_object("a", "1"))
    informer.put(_object("a", "2"))
    informer.remove(_object("a", "3"))
    added, updated, deleted = heard.changes
    assert (added.kind, added.old, added.new) == ("added", None, _object("a", "1"))
    assert updated.kind == "updated"
    assert (updated.old, updated.new) == (_object("a", "1"), _object("a", "2"))
    assert (deleted.kind, deleted.old, deleted.new) == ("deleted", _object("a", "2"), None)
    assert deleted.object == _object("a", "2")
    assert "n/a" not in informer.store


def test_no_change_is_not_told() -> None:
    informer, heard = Informer(_client(), CONFIG_MAPS), _Heard()
    informer.add_handler(heard)
    informer.put(_object("a", "1"))
    informer.put(_object("a", "1"))
    informer.remove(_object("b"))
    assert heard.take() == [("added", "n/a")]


def test_what_is_not_kept_is_as_if_gone() -> None:
    def keep(obj: Json) -> Json | None:
        return None if obj["data"] == "no" else {"metadata": obj["metadata"]}

    informer, heard = Informer(_client(), CONFIG_MAPS, keep=keep), _Heard()
    informer.add_handler(heard)
    informer.put(_object("a", "no"))
    assert heard.take() == []
    informer.put(_object("a", "yes"))
    informer.put(_object("a", "still"))
    assert informer.store.get("n/a") == {"metadata": {"name": "a", "namespace": "n"}}
    assert heard.take() == [("added", "n/a")]
    informer.put(_object("a", "no"))
    assert heard.take() == [("deleted", "n/a")]


def test_a_list_tells_what_has_gone_in_its_namespace() -> None:
    informer, heard = Informer(_client(), CONFIG_MAPS, namespaces=("n", "nn")), _Heard()
    for namespace in ("n", "nn"):
        for name in "ab":
            informer.put(_object(name, namespace=namespace))
    informer.add_handler(heard)
    assert len(heard.take()) == 4  # who comes late hears of all
    informer.retain("n", {"n/b"})
    assert heard.take() == [("deleted", "n/a")]
    informer.retain("", {"n/b"})
    assert heard.take() == [("deleted", "nn/a"), ("deleted", "nn/b")]


def test_failing_handlers_harm_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def fail(change: Change) -> None:
        raise ValueError(change.key)

    informer, heard = Informer(_client(), CONFIG_MAPS), _Heard()
    informer.add_handler(fail)
    informer.add_handler(heard)
    with caplog.at_level(logging.ERROR):
        informer.put(_object("a"))
    assert heard.take() == [("added", "n/a")]
    assert [record.getMessage() for record in caplog.records] == [
        "configmaps: a handler failed for Change(added n/a)"
    ]


def test_an_object_that_cannot_be_pruned_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    informer = Informer(_client(), CONFIG_MAPS, keep=lambda obj: {"x": obj["missing"]})
    informer.put(_object("a"))
    assert len(informer.store) == 0
    assert "cannot keep n/a" in caplog.text


def test_namespaces_are_for_namespaced_resources() -> None:
    assert len(Informer(_client(), JOBS, namespaces=("a", "b", "a"))._reflectors) == 2
    assert len(Informer(_client(), NAMESPACES, namespaces=("a", "b"))._reflectors) == 1


def test_informers_are_shared() -> None:
    informers = Informers(_client(), ("n",))
    first = informers.of(JOBS)
    first.put(_object("a", "x"))
    again = informers.of(JOBS, indexers={"data": lambda obj: [obj["data"]]})
    assert again is first
    assert first.store.keys_by_index("data", "x") == ["n/a"]
    assert [informer.resource for informer in informers] == [JOBS]
