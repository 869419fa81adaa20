import stat
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.base.plan import Plan
from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.kubelet import volumes
from trainway.agent.kubelet.downward import Downward
from trainway.agent.kubelet.objects import MissingError, Objects
from trainway.agent.kubelet.volumes import PodVolumes
from trainway.json_types import Json

OBJECTS = Objects(
    [
        {
            "kind": "ConfigMap",
            "metadata": {"name": "map"},
            "data": {"a": "1", "b": "2"},
            "binaryData": {"c": "AP8="},
        },
        {"kind": "Secret", "metadata": {"name": "key"}, "data": {"id": "c2VjcmV0"}},
        {
            "kind": "ConfigMap",
            "metadata": {"name": "files"},
            "binaryData": {"large": {"$file": "0" * 64, "size": 3}, "small": "AP8="},
        },
    ]
)
MOUNTED = {"name": "main", "volumeMounts": [{"name": "claim", "mountPath": "/claim"}]}


def make(path: Path, *volumes: Json, **spec: Any) -> PodVolumes:
    pod = {"volumes": list(volumes), "containers": [MOUNTED]}
    job = {"completionMode": "Indexed", "template": {"spec": pod}}
    roles = [{"name": "node", "template": {"spec": job}}]
    jobset = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": roles, **spec}}
    plan = Plan({"version": 1, "id": "j", "name": "js", "jobset": jobset})
    identity = PodIdentity(plan, plan.roles[0], job_index=0, slot=0, uid="0123456789")
    made = PodVolumes(identity, Directory(str(path)), OBJECTS, Downward(identity, {"cpu": "4"}))
    made.make()
    return made


def source(made: PodVolumes, name: str = "v", **mount: Any) -> Path:
    mounts = [{"name": name, "mountPath": "/at", **mount}]
    return Path(made.bindings({"volumeMounts": mounts}, {"SUB": "x"})[0].source)


def files(path: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(p.relative_to(path)): (p.read_bytes(), stat.S_IMODE(p.stat().st_mode))
        for p in sorted(path.rglob("*"))
        if p.is_file()
    }


def test_files_of_the_job(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    blob = tmp_path / "blobs" / ("0" * 64)
    blob.write_bytes(b"all")
    blob.chmod(0o600)
    items = [
        {"key": "large", "path": "data/x"},
        {"key": "large", "path": "bin/x", "mode": 0o755},
        {"key": "small", "path": "y"},
    ]
    made = make(tmp_path, {"name": "v", "configMap": {"name": "files", "items": items}})
    assert files(source(made)) == {
        "bin/x": (b"all", 0o755),
        "data/x": (b"all", 0o644),
        "y": (b"\x00\xff", 0o644),
    }
    assert (source(made) / "data" / "x").samefile(blob)
    assert not (source(made) / "bin" / "x").samefile(blob)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="No such file"):
        make(tmp_path, {"name": "v", "configMap": {"name": "files"}})


def test_config_map(tmp_path: Path) -> None:
    made = make(tmp_path, {"name": "v", "configMap": {"name": "map"}})
    assert files(source(made)) == {
        "a": (b"1", 0o644),
        "b": (b"2", 0o644),
        "c": (b"\x00\xff", 0o644),
    }
    assert made.bindings({"volumeMounts": [{"name": "v", "mountPath": "/x"}]}, {})[0].read_only


def test_items_have_paths_and_modes(tmp_path: Path) -> None:
    items = [{"key": "a", "path": "deep/x", "mode": 0o600}, {"key": "b", "path": "y"}]
    spec = {"name": "v", "configMap": {"name": "map", "items": items, "defaultMode": 0o400}}
    assert files(source(make(tmp_path, spec))) == {"deep/x": (b"1", 0o600), "y": (b"2", 0o400)}


def test_secrets_are_for_the_owner(tmp_path: Path) -> None:
    made = make(tmp_path, {"name": "v", "secret": {"secretName": "key"}})
    assert files(source(made)) == {"id": (b"secret", 0o600)}
    assert made.temporary == [str(tmp_path / "volumes" / "node-0-0.01234567")]
    assert stat.S_IMODE(Path(made.temporary[0]).stat().st_mode) == 0o700


def test_projected(tmp_path: Path) -> None:
    sources = [
        {"configMap": {"name": "map", "items": [{"key": "a", "path": "a"}]}},
        {"secret": {"name": "key"}},
        {"downwardAPI": {"items": [
            {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}},
            {"path": "cpu", "resourceFieldRef": {"resource": "limits.cpu"}}]}},
        {"serviceAccountToken": {"path": "token"}},
    ]  # fmt: skip
    made = make(tmp_path, {"name": "v", "projected": {"sources": sources}})
    assert files(source(made)) == {
        "a": (b"1", 0o644),
        "id": (b"secret", 0o600),
        "name": (b"js-node-0-0-01234", 0o644),
        "cpu": (b"4", 0o644),
    }


def test_empty_directories_and_claims(tmp_path: Path) -> None:
    claims = [{"templates": [{"metadata": {"name": "claim"}}, {"metadata": {"name": "unused"}}]}]
    volumes = (
        {"name": "v", "emptyDir": {}},
        {"name": "p", "persistentVolumeClaim": {"claimName": "data"}},
    )
    made = make(tmp_path, *volumes, volumeClaimPolicies=claims)
    assert list(source(made).iterdir()) == []
    assert source(made, "p") == tmp_path / "volumes" / "pvc-data"
    assert source(made, "claim") == tmp_path / "volumes" / "pvc-claim-js"
    assert not (tmp_path / "volumes" / "pvc-unused-js").exists()


def test_sub_paths(tmp_path: Path) -> None:
    fixed = {"name": "m", "configMap": {"name": "map"}}
    made = make(tmp_path, {"name": "v", "emptyDir": {}}, fixed)
    assert source(made, subPath="a/b").is_dir()
    assert source(made, subPathExpr="sub-$(SUB)").name == "sub-x"
    assert source(made, "m", subPath="a").read_bytes() == b"1"
    with pytest.raises(MissingError, match="does not exist"):
        source(made, "m", subPath="none")
    with pytest.raises(MissingError, match="missing value"):
        source(made, subPathExpr="$(NONE)")
    with pytest.raises(MissingError, match="relative"):
        source(made, subPath="../out")
    (source(made) / "link").symlink_to("/etc")
    with pytest.raises(MissingError, match="leads out"):
        source(made, subPath="link")


@pytest.mark.parametrize("type_", ["DirectoryOrCreate", "FileOrCreate"])
def test_host_paths_can_be_made(tmp_path: Path, type_: str) -> None:
    path = tmp_path / "new"
    made = make(tmp_path, {"name": "v", "hostPath": {"path": str(path), "type": type_}})
    assert source(made) == path
    assert path.is_dir() == (type_ == "DirectoryOrCreate")


@pytest.mark.parametrize(
    ("volume", "problem"),
    [
        ({"hostPath": {"path": "/no/such"}}, "does not exist on this machine"),
        ({"hostPath": {"path": "/etc/passwd", "type": "Directory"}}, "is not a Directory"),
        ({"hostPath": {"path": "/etc", "type": "Socket"}}, "is not a Socket"),
        ({"configMap": {"name": "none"}}, 'configmap "none" not found'),
        ({"configMap": {"name": "map", "items": [{"key": "z", "path": "z"}]}}, "non-existent"),
        ({"configMap": {"name": "map", "items": [{"key": "a", "path": "../z"}]}}, "relative"),
        ({"nfs": {"server": "s", "path": "/"}}, "nfs volumes do not exist"),
    ],
)
def test_what_stands_in_the_way_is_named(tmp_path: Path, volume: Json, problem: str) -> None:
    with pytest.raises(MissingError, match=problem):
        make(tmp_path, {"name": "v", **volume})


def test_what_is_optional_may_be_missing(tmp_path: Path) -> None:
    optional = {"name": "v", "configMap": {"name": "none", "optional": True}}
    assert files(source(make(tmp_path, optional))) == {}


def test_memory_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shm"
    shared.mkdir()
    monkeypatch.setattr(volumes, "MEMORY", str(shared))
    made = make(tmp_path, {"name": "v", "emptyDir": {"medium": "Memory"}})
    assert made.temporary == [str(source(made))]
    assert source(made).parent == shared
    assert stat.S_IMODE(source(made).stat().st_mode) == 0o700
    make(tmp_path, {"name": "v", "emptyDir": {"medium": "Memory"}})  # its own is found again


@pytest.mark.parametrize("trap", ["link", "open", "file"])
def test_memory_that_somebody_else_has_ready_is_refused(
    trap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volumes, "MEMORY", str(tmp_path))
    path, elsewhere = tmp_path / "trainway-j-node-0-0.01234567-v", tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    if trap == "link":
        path.symlink_to(elsewhere)
    elif trap == "open":
        path.mkdir()
        path.chmod(0o777)
    else:
        path.touch()
    with pytest.raises(MissingError, match="others can use it"):
        make(tmp_path, {"name": "v", "emptyDir": {"medium": "Memory"}})
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", ["../../../x", "a/../../../../x", "/x", "..", ""])
def test_names_do_not_leave_the_jobs_directory(name: str, tmp_path: Path) -> None:
    home = tmp_path / "a" / "b" / "job"
    home.mkdir(parents=True)
    for volume in (
        {"name": name, "emptyDir": {}},
        {"name": name, "configMap": {"name": "map"}},
        {"name": "v", "persistentVolumeClaim": {"claimName": name}},
    ):
        with pytest.raises(MissingError, match="is not the name of a folder"):
            make(home, volume)
    assert [path for path in tmp_path.rglob("*") if not home.is_relative_to(path)] == []


def test_links_that_a_container_put_there_lead_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    home = tmp_path / "job"
    home.mkdir()
    made = make(home, {"name": "v", "persistentVolumeClaim": {"claimName": "c"}})
    (source(made) / "link").symlink_to(outside)
    with pytest.raises(MissingError, match="leads out of the volume"):
        source(made, subPath="link/deep/er")
    assert list(outside.iterdir()) == []
