import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainway.compiler.compile import Input, Options, compile_objects
from trainway.errors import UsageError
from trainway.runtimes import builtin_runtime
from trainway.sdk import bundle
from trainway.sdk.bundle import Bundle, collected, script_bundle, with_bundle
from trainway.sdk.manifests import Wishes, plain_jobset, trainjob
from trainway.sdk.targets import script_objects

GOLDEN = Path(__file__).parent / "testdata"
SMALL = Bundle({"train.py": b"import model.net\n", "model/net.py": b"# \xff\n"})


@dataclass(frozen=True)
class Case:
    """A script, what lies around it, and what of it travels."""

    name: str
    script: str
    travel: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    around: dict[str, str] = field(default_factory=dict)


FOLDER = {
    "helper.py": "import other",
    "other.py": "",
    "unused.py": "",
    "pkg/__init__.py": "from . import inner",
    "pkg/inner.py": "from .deep.leaf import y\nimport other",
    "pkg/deep/leaf.py": "import numpy.linalg",
    "space/part.py": "",
    "data.csv": "",
}

CASES = [
    Case("alone", "print()"),
    Case("a module, and what it imports", "import helper", ("helper.py", "other.py")),
    Case("a name of a module", "from other import thing", ("other.py",)),
    Case(
        "a package as a whole",
        "import pkg",
        ("pkg/__init__.py", "pkg/inner.py", "pkg/deep/leaf.py", "other.py"),
        ("numpy",),
    ),
    Case("a folder that is no package", "import space.part", ("space/part.py",)),
    Case("a module of such a folder", "from space import part", ("space/part.py",)),
    Case("inside a function", "def f():\n    import other", ("other.py",)),
    Case(
        "by its name",
        "import importlib\nimportlib.import_module('other')",
        ("other.py",),
        ("importlib",),
    ),
    Case("from elsewhere", "import torch.nn as nn", (), ("torch",)),
    Case("a circle", "import ring", ("ring.py",), (), {"ring.py": "import script"}),
    Case("not Python", "this is not Python"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_modules_beside_a_script_travel_with_it(case: Case, tmp_path: Path) -> None:
    for path, text in (FOLDER | case.around | {"script.py": case.script}).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    found = script_bundle(tmp_path / "script.py")
    assert sorted(found.files) == sorted(["script.py", *case.travel])
    assert sorted(found.imports) == sorted(case.imports)
    assert found.files["script.py"] == case.script.encode()


def test_without_a_folder_nothing_is_looked_for() -> None:
    found = collected(None, {"boot.py": b"import os"}, ["import helper"])
    assert (list(found.files), found.imports) == (["boot.py"], frozenset({"os", "helper"}))


def test_more_than_pods_can_be_given_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST", 2_000_000)
    with pytest.raises(UsageError, match=r"3\.0 MB would have to travel .* most of it call\.json"):
        collected(None, {"call.json": b"x" * 3_000_000, "boot.py": b""})


def golden_text(objects: list[dict[str, Any]]) -> str:
    """As it is stored: without the text of our own files."""
    for obj in objects:
        for key in obj.get("data", {}):
            if key.startswith("trainway_"):
                obj["data"][key] = "..."
    return yaml.safe_dump_all(objects, sort_keys=False)


def golden_cases() -> dict[str, list[dict[str, Any]]]:
    """What is submitted for a script that runs in pods."""
    torch = Wishes(name="train", nodes=2, runtime="torch-distributed", on="k8s/test")
    mpi = Wishes(name="train", runtime="deepspeed-distributed", image="i", on="k8s/test")
    own = Wishes(name="train", runtime="own", on="k8s/test")
    plain = Wishes(name="train", on="k8s/test", image="registry.example/image", restarts=1)
    script = ["torchrun", "/opt/trainway/files/train.py"]
    return {
        "pods-torch": trainjob(torch, builtin_runtime("torch-distributed"), script),
        "pods-mpi": trainjob(mpi, builtin_runtime("deepspeed-distributed"), ["mpirun", *script]),
        "pods-runtime-of-the-cluster": trainjob(own, None, script),
        "pods-plain": [plain_jobset(plain, ["python", script[1]])],
    }


@pytest.mark.parametrize("name", golden_cases())
def test_what_is_submitted_for_pods_is_as_stored(name: str) -> None:
    made = with_bundle(golden_cases()[name], SMALL)
    assert golden_text(made) == (GOLDEN / f"{name}.yaml").read_text()


@pytest.mark.parametrize("name", ["pods-torch", "pods-mpi", "pods-plain"])
def test_what_is_submitted_for_pods_is_valid(name: str) -> None:
    made = with_bundle(golden_cases()[name], SMALL)
    inputs = [Input(item, "test") for item in made if item["kind"] != "ConfigMap"]
    outcome = compile_objects(inputs, Options(builtin_runtime=builtin_runtime))
    assert (outcome.errors, outcome.warnings) == ([], [])
    (jobset,) = (item for item in outcome.objects if item["kind"] == "JobSet")
    for role in jobset["spec"]["replicatedJobs"]:
        pod = role["template"]["spec"]["template"]["spec"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        mounts = {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
        assert "trainway-files" in volumes
        assert "/opt/trainway/files" in mounts
        assert role["template"]["spec"]["backoffLimit"] == 0
        assert pod["restartPolicy"] == "Never"


def test_every_path_has_a_key_of_its_own() -> None:
    files = {"a/b.py": b"1", "a.b.py": b"2", "ä.py": b"3", "_.py": b"4", "x" * 300 + ".py": b"5"}
    config, jobset = with_bundle([plain_jobset(Wishes(name="a"), ["b"])], Bundle(files))
    (role,) = jobset["spec"]["replicatedJobs"]
    (volume,) = role["template"]["spec"]["template"]["spec"]["volumes"]
    content = {item["path"]: config["data"][item["key"]] for item in volume["configMap"]["items"]}
    assert content == {path: data.decode() for path, data in files.items()}
    assert all(len(key) <= 253 for key in config["data"])


def test_bytes_that_are_no_text_are_kept() -> None:
    config, _ = with_bundle([plain_jobset(Wishes(name="a"), ["b"])], SMALL)
    assert base64.b64decode(config["binaryData"]["model.net.py"]) == b"# \xff\n"
    assert json.dumps(config)


@pytest.mark.parametrize(
    ("source", "nodes", "command"),
    [
        ("import torch", None, ["torchrun", "/opt/trainway/files/train.py"]),
        ("import helper", None, ["torchrun", "/opt/trainway/files/train.py"]),
        ("import os", 2, ["python", "/opt/trainway/files/train.py"]),
        ("import os", None, ["python", "/opt/trainway/files/train.py"]),
    ],
)
def test_torch_is_used_by_scripts_that_import_it(
    source: str, nodes: int | None, command: list[str], tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(source)
    (tmp_path / "helper.py").write_text("from torch import nn")
    wishes = Wishes(name="train", nodes=nodes, on="k8s")
    objects = script_objects(str(tmp_path / "train.py"), [], wishes)
    job = objects[-1]
    if command[0] == "torchrun":
        assert job["spec"]["trainer"]["command"] == command
        assert job["spec"]["runtimeRef"] == {"name": "torch-distributed"}
    else:
        (role,) = job["spec"]["replicatedJobs"]
        (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
        assert container["command"] == command
        assert container["image"].startswith("python:3.")


def test_in_a_cluster_every_job_has_a_name_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / f"{'long-' * 20}.py"
    script.write_text("")
    wishes = [Wishes(on="k8s"), Wishes(on="k8s"), Wishes(name="mine", on="k8s"), Wishes(on="local")]
    names = [script_objects(str(script), [], wish)[-1]["metadata"]["name"] for wish in wishes]
    assert names[0] != names[1]
    assert [len(name) for name in names] == [40, 40, 4, 39]
    assert names[0][:-6] == names[1][:-6] == "long-" * 6 + "long"
    assert names[2:] == ["mine", "long-" * 7 + "long"]


def test_on_hosts_a_job_has_no_image_and_no_name_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    config, job = script_objects(str(script), ["--lr"], Wishes(on="ssh/lab"))
    (role,) = job["spec"]["replicatedJobs"]
    (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
    assert job["metadata"]["name"] == "train"
    assert config["data"] == {"train.py": ""}
    assert "image" not in container
    assert container["command"] == ["python3", "/opt/trainway/files/train.py", "--lr"]


def test_on_hosts_a_runtime_has_no_images(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch")
    _, runtime, job = script_objects(str(script), [], Wishes(on="ssh/lab"))
    assert job["spec"]["trainer"]["command"] == ["torchrun", "/opt/trainway/files/train.py"]
    for role in runtime["spec"]["template"]["spec"]["replicatedJobs"]:
        for container in role["template"]["spec"]["template"]["spec"]["containers"]:
            assert "image" not in container


def test_a_torchtune_runtime_stays_that_of_the_cluster() -> None:
    wishes = Wishes(name="tune", runtime="torchtune-llama3.2-1b", on="k8s")
    (job,) = trainjob(wishes, builtin_runtime("torchtune-llama3.2-1b"), ["tune"], ["run"])
    assert job["spec"]["runtimeRef"] == {"name": "torchtune-llama3.2-1b"}
