import copy
import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainway.jobset.merge_patch import MergePatchError, merge
from trainway.jobset.spec import JOBSET_SPEC
from trainway.schema.kubernetes import kube
from trainway.schema.structural import Schema
from trainway.schema.validation import validate

POD = kube("PodSpec")
META = kube("ObjectMeta")


@dataclass(frozen=True)
class Case:
    name: str
    original: Any
    patch: Any
    expected: Any
    schema: Schema = POD


def _env(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"containers": [{"name": "a", "env": list(entries)}]}


VALUE = {"name": "X", "value": "1"}
SECRET = {"name": "X", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
FIELD = {"name": "X", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}

CASES = [
    Case("maps merge", {"hostname": "h"}, {"subdomain": "s"}, {"hostname": "h", "subdomain": "s"}),
    Case(
        "maps with free keys merge",
        {"nodeSelector": {"a": "1", "b": "1"}},
        {"nodeSelector": {"b": "2", "c": "2"}},
        {"nodeSelector": {"a": "1", "b": "2", "c": "2"}},
    ),
    Case(
        "null deletes a field",
        {"hostname": "h", "nodeSelector": {"a": "1", "b": "1"}},
        {"hostname": None, "subdomain": None, "nodeSelector": {"a": None, "z": None}},
        {"nodeSelector": {"b": "1"}},
    ),
    Case("null in what is new is dropped", {}, {"os": {"name": None}}, {"os": {}}),
    Case(
        "a list with a key merges by it: what the patch names is in the patch's order",
        {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]},
        {"containers": [{"name": "c", "image": "2"}, {"name": "a", "tty": True}]},
        {
            "containers": [
                {"name": "c", "image": "2"},
                {"name": "a", "image": "1", "tty": True},
                {"name": "b", "image": "1"},
            ]
        },
    ),
    Case(
        "mounts merge by path",
        {"containers": [{"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/a"}]}]},
        {"containers": [{"name": "a", "volumeMounts": [{"name": "v", "mountPath": "/b"}]}]},
        {
            "containers": [
                {
                    "name": "a",
                    "volumeMounts": [
                        {"name": "v", "mountPath": "/b"},
                        {"name": "v", "mountPath": "/a"},
                    ],
                }
            ]
        },
    ),
    Case(
        "other lists are replaced",
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
        {"tolerations": [{"key": "c", "value": None}]},
        {"tolerations": [{"key": "c"}]},
    ),
    Case(
        "a merging list of plain values is united",
        {"finalizers": ["a", "b"]},
        {"finalizers": ["c", "b"]},
        {"finalizers": ["c", "a", "b"]},
        META,
    ),
    Case(
        "roles of a JobSet merge by name down to the pod",
        {"replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": {}}}]},
        {
            "replicatedJobs": [
                {"name": "node", "template": {"spec": {"template": {"spec": {"hostname": "h"}}}}}
            ]
        },
        {
            "replicatedJobs": [
                {
                    "name": "node",
                    "replicas": 1,
                    "template": {"spec": {"template": {"spec": {"hostname": "h"}}}},
                }
            ]
        },
        JOBSET_SPEC,
    ),
    Case(
        "unknown maps merge, unknown lists are replaced",
        {"new": {"a": [1], "b": 1}},
        {"new": {"a": [2]}},
        {"new": {"a": [2], "b": 1}},
    ),
    Case("another type replaces", {"new": {"a": 1}}, {"new": [1]}, {"new": [1]}),
    Case("N7: a source takes the place of a value", _env(VALUE), _env(SECRET), _env(SECRET)),
    Case("N7: a value takes the place of a source", _env(SECRET), _env(VALUE), _env(VALUE)),
    Case("one source takes the place of another", _env(SECRET), _env(FIELD), _env(FIELD)),
    Case(
        "the same source merges",
        _env(SECRET),
        _env({"name": "X", "valueFrom": {"secretKeyRef": {"key": "other"}}}),
        _env({"name": "X", "valueFrom": {"secretKeyRef": {"name": "s", "key": "other"}}}),
    ),
    Case(
        "one kind of volume takes the place of another",
        {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]},
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
    ),
    Case(
        "the same kind of volume merges",
        {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]},
        {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]},
        {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}]},
    ),
    Case(
        "$patch: replace of a map",
        {"nodeSelector": {"a": "1"}},
        {"nodeSelector": {"$patch": "replace", "b": "2"}},
        {"nodeSelector": {"b": "2"}},
    ),
    Case(
        "$patch: replace of nothing",
        {},
        {"os": {"$patch": "replace", "name": "x"}},
        {"os": {"name": "x"}},
    ),
    Case(
        "$patch: delete of a map", {"os": {"name": "x"}}, {"os": {"$patch": "delete"}}, {"os": {}}
    ),
    Case("$patch: delete of nothing", {}, {"os": {"$patch": "delete"}}, {}),
    Case(
        "$patch: merge is what happens anyway",
        {"os": {"name": "x"}},
        {"os": {"$patch": "merge", "new": 1}},
        {"os": {"name": "x", "new": 1}},
    ),
    Case(
        "$patch: delete of an item",
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"name": "a", "$patch": "delete"}, {"name": "z", "$patch": "delete"}]},
        {"containers": [{"name": "b"}]},
    ),
    Case(
        "an item that is deleted and given anew starts afresh",
        {"containers": [{"name": "a", "image": "1"}]},
        {"containers": [{"name": "a", "tty": True}, {"name": "a", "$patch": "delete"}]},
        {"containers": [{"name": "a", "tty": True}]},
    ),
    Case(
        "$patch: replace of a list",
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"$patch": "replace"}, {"name": "c"}]},
        {"containers": [{"name": "c"}]},
    ),
    Case(
        "directives do not survive in a list that is replaced",
        {},
        {"tolerations": [{"$patch": "replace"}, {"key": "a"}]},
        {"tolerations": [{"key": "a"}]},
    ),
    Case(
        "$retainKeys drops all other fields",
        {"securityContext": {"runAsUser": 1, "fsGroup": 2}},
        {"securityContext": {"$retainKeys": ["runAsGroup", "fsGroup"], "runAsGroup": 3}},
        {"securityContext": {"fsGroup": 2, "runAsGroup": 3}},
    ),
    Case(
        "$deleteFromPrimitiveList",
        {"finalizers": ["a", "b"]},
        {"$deleteFromPrimitiveList/finalizers": ["a", "z"], "finalizers": ["c"]},
        {"finalizers": ["c", "b"]},
        META,
    ),
    Case(
        "$deleteFromPrimitiveList of nothing",
        {},
        {"$deleteFromPrimitiveList/finalizers": ["a"]},
        {},
        META,
    ),
    Case(
        "$setElementOrder sorts the items it names and leaves the others in their places",
        {"containers": [{"name": "a"}, {"name": "x"}, {"name": "b"}]},
        {
            "$setElementOrder/containers": [{"name": "c"}, {"name": "b"}, {"name": "a"}],
            "containers": [{"name": "c"}],
        },
        {"containers": [{"name": "c"}, {"name": "x"}, {"name": "b"}, {"name": "a"}]},
    ),
    Case(
        "$setElementOrder of plain values",
        {"finalizers": ["a", "b"]},
        {"$setElementOrder/finalizers": ["b", "a"]},
        {"finalizers": ["b", "a"]},
        META,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_patches_are_applied(case: Case) -> None:
    original, patch = copy.deepcopy(case.original), copy.deepcopy(case.patch)
    result = merge(case.schema, original, patch)
    assert result == case.expected
    assert merge(case.schema, result, patch) == result
    assert (original, patch) == (case.original, case.patch)


SCHEMAS = {"PodSpec": POD, "ObjectMeta": META, "JobSetSpec": JOBSET_SPEC}
FACTS = json.loads(
    (resources.files("trainway.jobset") / "testdata" / "merge_patch.json").read_text("utf-8")
)
"""What apimachinery 0.36.2 made of random patches: schema, original, patch and outcome, which
is null where it refused the patch."""


@pytest.mark.parametrize("fact", FACTS, ids=range(len(FACTS)))
def test_patches_come_out_as_with_kubernetes_own_library(fact: list[Any]) -> None:
    schema, original, patch, expected = fact
    if expected is None:
        with pytest.raises(MergePatchError):
            merge(SCHEMAS[schema], original, patch)
    else:
        assert merge(SCHEMAS[schema], original, patch) == expected


def test_fields_keep_their_order() -> None:
    result = merge(POD, {"b": 1, "a": 1, "c": 1}, {"d": 2, "a": 2})
    assert list(result) == ["b", "a", "c", "d"]


def test_the_result_shares_nothing_with_its_origins() -> None:
    original = {"nodeSelector": {"a": "1"}, "tolerations": [{"key": "a"}]}
    patch = {"os": {"name": "linux"}, "containers": [{"name": "a", "env": [VALUE]}]}
    result = merge(POD, original, patch)
    result["nodeSelector"]["a"] = result["os"]["name"] = "changed"
    result["tolerations"].clear()
    result["containers"][0]["env"][0]["value"] = "changed"
    assert original == {"nodeSelector": {"a": "1"}, "tolerations": [{"key": "a"}]}
    assert patch == {"os": {"name": "linux"}, "containers": [{"name": "a", "env": [VALUE]}]}


@pytest.mark.parametrize(
    ("patch", "error"),
    [
        ({"$patch": "drop"}, '$patch: Invalid value: "drop": must be replace, delete or merge'),
        ({"os": {"$patch": 1}}, "os.$patch: Invalid value: 1"),
        ({"containers": [{"image": "x"}]}, "containers[0].name: Invalid value: null: must be set"),
        ({"containers": ["a"]}, 'containers[0]: Invalid value: "a": must be an object with name'),
        (
            {"containers": [{"name": "a", "env": [{"name": "X"}, {"value": "1"}]}]},
            "containers[0].env[1].name: Invalid value: null",
        ),
        ({"containers": [{"$patch": "delete"}]}, "containers[0].name: Invalid value: null"),
        (
            {"containers": [{"name": "a", "$patch": "replace"}]},
            'containers[0].$patch: Invalid value: "replace": must be in an item of its own',
        ),
        (
            {"containers": [{"name": "a", "$patch": "x"}]},
            'containers[0].$patch: Invalid value: "x"',
        ),
        ({"os": {"$retainKeys": "name"}}, 'os.$retainKeys: Invalid value: "name": must be a list'),
        ({"os": {"$retainKeys": [], "name": "x"}}, "os.$retainKeys: Invalid value: []: must name"),
        ({"$setElementOrder": []}, "$setElementOrder: Invalid value: []: must be"),
        ({"$setElementOrder/containers": {}}, "$setElementOrder/containers: Invalid value: {}"),
        (
            {"containers": [{"name": "a"}], "$setElementOrder/containers": ["a"]},
            '$setElementOrder/containers[0]: Invalid value: "a": must be an object with name',
        ),
        (
            {"containers": [{"name": "a"}], "$setElementOrder/containers": [{"name": "b"}]},
            '$setElementOrder/containers: Invalid value: ["b"]: must name every item',
        ),
        ({"$deleteFromPrimitiveList/args": "x"}, "$deleteFromPrimitiveList/args: Invalid value"),
    ],
)
def test_a_malformed_patch_is_told_with_its_path(patch: dict[str, Any], error: str) -> None:
    with pytest.raises(MergePatchError) as caught:
        merge(POD, {}, patch)
    assert str(caught.value).startswith(error)
    assert str(caught.value.error) == str(caught.value)


names = st.sampled_from("abcd")
words = st.sampled_from(["x", "y", "z"])


def _items(key: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Lists of objects told apart by a key."""
    item = st.fixed_dictionaries({key: names}, optional=fields)
    return st.lists(item, max_size=3, unique_by=lambda found: str(found[key]))


maps = st.dictionaries(names, words, max_size=3)
sources = st.one_of(
    st.fixed_dictionaries({"fieldRef": st.fixed_dictionaries({"fieldPath": words})}),
    st.fixed_dictionaries(
        {"secretKeyRef": st.fixed_dictionaries({"key": words}, optional={"name": words})}
    ),
)
variables = st.one_of(
    st.fixed_dictionaries({"name": names, "value": words}),
    st.fixed_dictionaries({"name": names, "valueFrom": sources}),
)
containers = _items(
    "name",
    image=words,
    command=st.lists(words, max_size=2),
    env=st.lists(variables, max_size=3, unique_by=lambda found: str(found["name"])),
    resources=st.fixed_dictionaries(
        {}, optional={"limits": maps.map(lambda m: dict.fromkeys(m, "1"))}
    ),
    volumeMounts=_items("mountPath", readOnly=st.booleans()).map(
        lambda mounts: [{**mount, "name": "v"} for mount in mounts]
    ),
)
volumes = _items("name").flatmap(
    lambda found: st.tuples(
        *(st.sampled_from([{"emptyDir": {}}, {"secret": {"secretName": "s"}}]) for _ in found)
    ).map(lambda kinds: [{**item, **kind} for item, kind in zip(found, kinds, strict=True)])
)
pods = st.fixed_dictionaries(
    {"containers": containers},
    optional={
        "nodeSelector": maps,
        "tolerations": st.lists(st.fixed_dictionaries({"key": words}), max_size=2),
        "volumes": volumes,
        "securityContext": st.fixed_dictionaries({}, optional={"runAsUser": st.integers(0, 9)}),
        "terminationGracePeriodSeconds": st.integers(0, 9),
    },
)


@given(pods)
def test_an_empty_patch_changes_nothing(pod: dict[str, Any]) -> None:
    assert merge(POD, pod, {}) == pod


@given(pods)
def test_a_patch_of_nothing_is_the_patch(pod: dict[str, Any]) -> None:
    assert merge(POD, {}, pod) == pod
    assert merge(POD, pod, pod) == pod


@given(pods, pods)
def test_patches_are_idempotent_and_keep_a_pod_valid(
    pod: dict[str, Any], patch: dict[str, Any]
) -> None:
    before = copy.deepcopy((pod, patch))
    result = merge(POD, pod, patch)
    assert merge(POD, result, patch) == result
    assert (pod, patch) == before
    assert validate(POD, result).errors == []
    for container in result["containers"]:
        for variable in container.get("env", []):
            assert len(variable) == 2
            assert len(variable.get("valueFrom", ["one"])) == 1
    for volume in result.get("volumes", []):
        assert len(volume) == 2


@given(pods, pods)
def test_what_a_patch_says_holds_afterwards(pod: dict[str, Any], patch: dict[str, Any]) -> None:
    result = merge(POD, pod, patch)
    given_names = [item["name"] for item in patch["containers"]]
    former_names = [item["name"] for item in pod["containers"]]
    other_names = [name for name in former_names if name not in given_names]
    found = [item["name"] for item in result["containers"]]
    assert [name for name in found if name in given_names] == given_names
    assert [name for name in found if name not in given_names] == other_names
    assert result.get("nodeSelector", {}).items() >= patch.get("nodeSelector", {}).items()
    if "tolerations" in patch:
        assert result["tolerations"] == patch["tolerations"]
