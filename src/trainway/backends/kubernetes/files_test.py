import base64
import hashlib
import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainway.backends.kubernetes.files import LIMIT, is_too_large, planned, unpack_command
from trainway.errors import InvalidError
from trainway.json_types import Json

GOLDEN = Path(__file__).parent / "testdata" / "upload.yaml"


def config_map(name: str, **data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def jobset(*pods: Json) -> Json:
    roles = [
        {"name": f"role{n}", "template": {"spec": {"template": {"spec": pod}}}}
        for n, pod in enumerate(pods)
    ]
    return {"kind": "JobSet", "metadata": {"name": "a"}, "spec": {"replicatedJobs": roles}}


def pod(source: Json, **container: Any) -> Json:
    mounts = [{"name": "files", "mountPath": "/opt/trainway/files", "readOnly": True}]
    trainer = {"name": "node", "image": "i", "volumeMounts": mounts, **container}
    return {
        "volumes": [{"name": "files", "configMap": source}, {"name": "x", "emptyDir": {}}],
        "containers": [{"name": "side", "image": "s"}, trainer],
    }


ITEMS = [{"key": "train.py", "path": "train.py"}, {"key": "net.py", "path": "model/net.py"}]
LARGE = config_map("a-files", **{"train.py": "x" * LIMIT, "net.py": "y"})


def test_what_fits_is_sent_as_it_is() -> None:
    objects = [config_map("a-files", **{"train.py": "x" * LIMIT})]
    made = jobset(pod({"name": "a-files"}))
    sent = planned(objects, made)
    assert (sent.objects, sent.archive) == (objects, None)
    assert sent.jobset is made
    assert not is_too_large(objects)


@pytest.mark.parametrize("field", ["data", "binaryData"])
def test_bytes_count_and_not_characters(field: str) -> None:
    content = "ä" * 500_000 if field == "data" else base64.b64encode(b"x" * 901_000).decode()
    obj = {**config_map("a"), field: {"k": content}}
    assert is_too_large([obj])
    assert not is_too_large([{**obj, "kind": "Secret"}])


def test_the_pods_of_a_large_config_map_are_as_stored() -> None:
    resources = {"requests": {"cpu": "2", "nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
    reads = pod(
        {"name": "a-files", "items": ITEMS},
        resources=resources,
        securityContext={"runAsUser": 1000},
    )
    reads["initContainers"] = [{"name": "first", "image": "f"}]
    other = {"containers": [{"name": "node", "image": "i"}]}
    before = jobset(reads, other)
    kept = config_map("small", a="b")

    sent = planned([kept, LARGE], before)

    assert sent.objects == [kept]
    assert before == jobset(reads, other)
    assert yaml.safe_dump(sent.jobset, sort_keys=False) == GOLDEN.read_text()


def names_in(archive: bytes | None) -> list[str]:
    assert archive is not None
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        return opened.getnames()


def test_the_archive_has_every_path_that_a_volume_shows() -> None:
    one = pod({"name": "a-files", "items": ITEMS})
    two = pod({"name": "a-files"})
    assert names_in(planned([LARGE], jobset(one)).archive) == [
        "a-files/model/net.py",
        "a-files/train.py",
    ]
    assert names_in(planned([LARGE], jobset(one, two)).archive) == [
        "a-files/model/net.py",
        "a-files/net.py",
        "a-files/train.py",
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"envFrom": [{"configMapRef": {"name": "a-files"}}]}, "a variable"),
        (
            {
                "env": [
                    {
                        "name": "A",
                        "valueFrom": {"configMapKeyRef": {"name": "a-files", "key": "net.py"}},
                    }
                ]
            },
            "a variable",
        ),
    ],
    ids=["all variables", "a variable"],
)
def test_only_volumes_can_be_brought(changed: Json, message: str) -> None:
    with pytest.raises(InvalidError, match=f"ConfigMap/a-files: it is too large for {message}"):
        planned([LARGE], jobset(pod({"name": "a-files"}, **changed)))


def test_projected_volumes_and_missing_keys_are_refused() -> None:
    projected = {"name": "p", "projected": {"sources": [{"configMap": {"name": "a-files"}}]}}
    spec = {"volumes": [projected], "containers": [{"name": "node"}]}
    with pytest.raises(InvalidError, match="too large for a projected volume"):
        planned([LARGE], jobset(spec))
    missing = pod({"name": "a-files", "items": [{"key": "no.py", "path": "no.py"}]})
    with pytest.raises(InvalidError, match=r"there is no key no\.py"):
        planned([LARGE], jobset(missing))


def run(code: list[str], place: Path, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    words = [word.replace("/opt/trainway/upload", str(place)) for word in code[1:]]
    return subprocess.run(
        [sys.executable, *words], input=data, capture_output=True, check=False, timeout=60
    )


def test_the_files_arrive_and_end_the_waiting(tmp_path: Path) -> None:
    sent = planned([LARGE], jobset(pod({"name": "a-files", "items": ITEMS})))
    assert sent.archive is not None
    (role,) = sent.jobset["spec"]["replicatedJobs"]
    waiting = role["template"]["spec"]["template"]["spec"]["initContainers"][0]["command"]
    (tmp_path / "a-files").mkdir()
    damaged = run(list(unpack_command(sent.archive, "0")), tmp_path, sent.archive)
    assert (damaged.returncode, damaged.stderr) == (1, b"the files arrived damaged\n")
    assert list((tmp_path / "a-files").iterdir()) == []

    digest = hashlib.sha256(sent.archive).hexdigest()
    done = run(list(unpack_command(sent.archive, digest)), tmp_path, sent.archive + b"more")

    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "a-files" / "model" / "net.py").read_text() == "y"
    assert (tmp_path / "a-files" / "train.py").stat().st_size == LIMIT
    assert run(waiting, tmp_path).returncode == 0


def test_folders_that_a_pod_does_not_have_are_left_out(tmp_path: Path) -> None:
    sent = planned([LARGE], jobset(pod({"name": "a-files", "items": ITEMS})))
    assert sent.archive is not None
    digest = hashlib.sha256(sent.archive).hexdigest()
    assert run(list(unpack_command(sent.archive, digest)), tmp_path, sent.archive).returncode == 0
    assert list(tmp_path.iterdir()) == []
