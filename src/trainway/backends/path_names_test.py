from typing import Any

import pytest

from trainway.backends import path_names
from trainway.json_types import Json


def jobset(namespace: str | None = None) -> Json:
    pod = {"containers": [{"name": "main", "command": ["true"]}]}
    role = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    return {"metadata": {"namespace": namespace}, "spec": {"replicatedJobs": [role]}}


LEADING_AWAY = ["../../../x", "", ".", "..", "a/b", "a\0b", "/etc", "x" * 300, "-x", ".x", "a\n"]


def with_volume(volume: Json, **mount: Any) -> Json:
    made = jobset()
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["volumes"] = [volume]
    pod["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/x", **mount}]
    return made


def named(role: str = "node", container: str = "main", namespace: str = "default") -> Json:
    made = jobset(namespace)
    job = made["spec"]["replicatedJobs"][0]
    job["name"] = role
    job["template"]["spec"]["template"]["spec"]["containers"][0]["name"] = container
    return made


@pytest.mark.parametrize("name", LEADING_AWAY, ids=ascii)
def test_names_of_files_and_folders(name: str) -> None:
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": name}}
    for made, what in (
        (with_volume({"name": name, "emptyDir": {"medium": "Memory"}}), "volume"),
        (with_volume(claim), "claimName"),
        (named(container=name), "container"),
        (named(role=name), "role"),
        (named(namespace=name or "/"), "namespace"),
    ):
        (error,) = path_names.errors(made)
        assert what in error


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../b", "..", "a\0"], ids=ascii)
def test_paths_in_volumes(path: str) -> None:
    items = {"items": [{"key": "k", "path": path}]}
    parts = {"sources": [{"secret": {"name": "s", **items}}]}
    for made, what in (
        (with_volume({"name": "v", "emptyDir": {}}, subPath=path), "subPath"),
        (with_volume({"name": "v", "configMap": {"name": "c", **items}}), "items"),
        (with_volume({"name": "v", "projected": parts}), "items"),
    ):
        (error,) = path_names.errors(made)
        assert what in error
    secret = {"kind": "Secret", "metadata": {"name": "s"}, "data": {path: "eA=="}}
    assert "Secret/s: data[" in path_names.key_errors([secret])[0]


def test_usual_names_are_fine() -> None:
    items = {"items": [{"key": "k", "path": "conf.d/a..b"}]}
    for made in (
        with_volume({"name": "v", "emptyDir": {}}, subPath="a/b.c/..d"),
        with_volume({"name": "v", "secret": {"secretName": "s", **items}}),
        named("node-1", "my_container.v2", "team-a"),
        jobset(),
    ):
        assert path_names.errors(made) == []
    assert path_names.key_errors([{"kind": "ConfigMap", "data": {"train.py": ""}}]) == []
