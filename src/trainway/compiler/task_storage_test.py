"""The buckets of tasks in pods: who has which keys, and where things are."""

import json
from typing import Any

import pytest

from trainway.api.task import task_object
from trainway.api.task.storage_mount import StorageMount
from trainway.api.task.task_file import parse
from trainway.api.task.task_object import StorageKeys, TaskJob
from trainway.compiler import storage_script
from trainway.compiler.network import KubernetesNetwork
from trainway.compiler.task import compile_task
from trainway.compiler.task_test import ORIGIN, OneHost
from trainway.jobset.labels import TASK_MOUNTS
from trainway.json_types import Json

TEXT = """\
file_mounts:
  /data: s3://bucket/data
  ~/here: gs://other/file
  /live: {source: s3://bucket/live, config: {mount: {read_only: true}}}
run: ls
"""
KEYS = ("AWS_SECRET_ACCESS_KEY", "RCLONE_CONFIG_TRAINWAYS3_KEY", "RCLONE_CONFIG_TRAINWAYGS_KEY")


def pod_of(text: str, network: Any) -> Json:
    parsed = parse(text)
    assert parsed.file is not None, parsed.errors
    job, _ = task_object.read(task_object.objects_of(parsed.file, "job", ORIGIN)[-1])
    assert job is not None
    job = TaskJob("job", job.file, storage=(StorageKeys("job-storage", KEYS),), origin=ORIGIN)
    jobset = compile_task(job, network).objects[0]
    annotation = jobset["metadata"]["annotations"].get(TASK_MOUNTS)
    assert annotation is None or json.loads(annotation) == {"node": ["/live"]}
    (role,) = jobset["spec"]["replicatedJobs"]
    spec: Json = role["template"]["spec"]["template"]["spec"]
    return spec


def test_copies_are_made_by_a_step_before_the_task() -> None:
    spec = pod_of(TEXT, OneHost)
    (step,) = spec["initContainers"]
    assert "image" not in step
    assert "fetch 's3://bucket/data' 'trainways3:bucket/data'" in step["command"][-1]
    assert {item["name"] for item in step["env"]} == set(KEYS)
    volumes = [volume["name"] for volume in spec["volumes"] if "emptyDir" in volume]
    assert volumes == ["storage-0", "storage-1"]
    (task,) = spec["containers"]
    assert task["volumeMounts"] == [
        {"name": "storage-0", "mountPath": "/data", "subPath": "content"},
        {"name": "storage-1", "mountPath": "/home/me/here", "subPath": "content"},
    ]


@pytest.mark.parametrize(
    ("given", "others"),
    [
        ((), ""),
        (("AWS_ACCESS_KEY_ID",), "unset AWS_SESSION_TOKEN AWS_TOKEN\n"),
        (("AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN"), "unset AWS_TOKEN\n"),
    ],
    ids=str,
)
def test_a_copy_does_not_use_a_token_of_other_keys(given: tuple[str, ...], others: str) -> None:
    script = storage_script.copying([(StorageMount("/data", "s3://bucket/data"), "/place")], given)
    assert script.startswith(f"{others}fetch() {{\n")


def test_only_what_mounts_gets_keys_of_its_store() -> None:
    (task,) = pod_of(TEXT, OneHost)["containers"]
    hidden = [item["name"] for item in task["env"] if "secretKeyRef" in item.get("valueFrom", {})]
    assert hidden == ["RCLONE_CONFIG_TRAINWAYS3_KEY"]
    assert "mount_storage 's3://bucket/live' 'trainways3:bucket/live' '/live'" in task["command"][2]
    assert "'--read-only'" in task["command"][2]


def test_elsewhere_the_home_directory_is_found_by_a_link() -> None:
    spec = pod_of(TEXT, KubernetesNetwork)
    step, _ = spec["initContainers"]
    assert step["image"].startswith("rclone/rclone:")
    assert "privileged" not in step["securityContext"]
    (task,) = spec["containers"]
    assert task["volumeMounts"][1] == {"name": "storage-1", "mountPath": "/opt/trainway/storage/1"}
    assert "link '/opt/trainway/storage/1/content' ~/'here'\n" in task["command"][2]


def test_in_pods_a_privileged_container_beside_the_task_mounts() -> None:
    mounts = "file_mounts: {/live: {source: s3://bucket/live, config: {mount: {read_only: true}}}}"
    spec = pod_of(f"{mounts}\nrun: ls", KubernetesNetwork)
    check, sidecar = spec["initContainers"]
    assert "check 's3://bucket/live' 'trainways3:bucket'\n" in check["command"][-1]
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["securityContext"]["privileged"]
    assert "serve 's3://bucket/live' 'trainways3:bucket/live' '0'" in sidecar["command"][-1]
    assert "'--read-only'" in sidecar["command"][-1]
    (task,) = spec["containers"]
    assert "securityContext" not in task
    assert not [item for item in task["env"] if "secretKeyRef" in item.get("valueFrom", {})]
    places = [(mount["name"], mount["mountPath"]) for mount in task["volumeMounts"]]
    assert places == [("storage-cache", "/opt/trainway/mount-cache"), ("storage-mounts", "/live")]
    assert "flush_storage" in task["command"][2]
    assert "rclone" not in task["command"][2]


def test_a_task_without_buckets_is_as_ever() -> None:
    spec = pod_of("run: ls", OneHost)
    assert "initContainers" not in spec
    assert "rclone" not in json.dumps(spec)
