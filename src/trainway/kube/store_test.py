import tracemalloc

import pytest

from trainway.json_types import Json
from trainway.kube.store import Store, object_key, split_key


def _object(name: str, owner: str = "", namespace: str = "n") -> Json:
    return {"metadata": {"name": name, "namespace": namespace}, "owner": owner}


def _owners(obj: Json) -> list[str]:
    return [obj["owner"]] if obj["owner"] else []


def test_keys() -> None:
    assert object_key(_object("a")) == "n/a"
    assert object_key({"metadata": {"name": "a"}}) == "a"
    assert split_key("n/a") == ("n", "a")
    assert split_key("a") == ("", "a")


def test_what_is_got_can_be_changed_without_harm() -> None:
    store = Store()
    store.put("n/a", _object("a"))
    got = store.get("n/a")
    assert got is not None
    got["metadata"]["name"] = "spoilt"
    assert store.get("n/a") == _object("a")


def test_put_says_what_was_there_and_whether_it_changed() -> None:
    store = Store()
    assert store.put("n/a", _object("a")) == (None, True)
    old, has_changed = store.put("n/a", _object("a"))
    assert (old is not None, has_changed) == (True, False)
    old, has_changed = store.put("n/a", _object("a", "x"))
    assert (old, has_changed) == (b'{"metadata":{"name":"a","namespace":"n"},"owner":""}', True)


def test_indexes_follow_changes() -> None:
    store = Store({"owner": _owners})
    store.put("n/a", _object("a", "x"))
    store.put("n/b", _object("b", "x"))
    assert store.keys_by_index("owner", "x") == ["n/a", "n/b"]
    store.put("n/a", _object("a", "y"))
    assert store.by_index("owner", "x") == [_object("b", "x")]
    assert store.by_index("owner", "y") == [_object("a", "y")]
    store.put("n/a", _object("a"))
    store.remove("n/b")
    assert store.by_index("owner", "x") == store.by_index("owner", "y") == []
    assert store.keys() == ["n/a"]


def test_an_index_added_later_knows_what_is_there() -> None:
    store = Store()
    store.put("n/a", _object("a", "x"))
    store.add_indexers({"owner": _owners})
    assert store.keys_by_index("owner", "x") == ["n/a"]


def test_a_value_given_twice_counts_once() -> None:
    store = Store({"twice": lambda obj: ["v", "v"]})
    store.put("n/a", _object("a"))
    assert store.keys_by_index("twice", "v") == ["n/a"]


def test_values_while_objects_vanish() -> None:
    store = Store()
    for name in "abc":
        store.put(f"n/{name}", _object(name))
    seen = []
    for obj in store.values():
        seen.append(obj["metadata"]["name"])
        store.remove("n/b")
    assert seen == ["a", "c"]


def test_an_unknown_index_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        Store().by_index("owner", "x")


def test_removing_what_is_not_there() -> None:
    assert Store({"owner": _owners}).remove("n/a") is None


def test_an_object_takes_little_more_than_its_text() -> None:
    objects = [_object(f"name-{number}", "x" * 1000) for number in range(200)]
    store = Store()
    tracemalloc.start()
    try:
        for obj in objects:
            store.put(object_key(obj), obj)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / len(objects) < 1500
