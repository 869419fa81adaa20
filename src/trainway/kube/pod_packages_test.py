from pathlib import Path
from typing import Any

import pytest

from trainway.kube import pod_packages_program
from trainway.kube.pod_packages import PATH, in_pods


def role(name: str, **container: Any) -> dict[str, Any]:
    pod = {"spec": {"containers": [{"name": "node", "image": "i", **container}]}}
    return {"name": name, "template": {"spec": {"template": pod}}}


def pods(*roles: dict[str, Any]) -> list[dict[str, Any]]:
    made = in_pods({"spec": {"replicatedJobs": list(roles)}}, ["six", "a$(B)"])
    return [item["template"]["spec"]["template"]["spec"] for item in made["spec"]["replicatedJobs"]]


def test_a_pod_installs_before_its_containers_start() -> None:
    own = [{"name": "PYTHONPATH", "value": "/own"}, {"name": "PIP_INDEX_URL", "value": "http://a"}]
    (pod,) = pods(role("node", env=own))
    (first,) = pod["initContainers"]
    assert (first["name"], first["image"], first["env"][1]) == (
        "trainway-environment", "i", {"name": "PIP_INDEX_URL", "value": "http://a"},
    )  # fmt: skip
    assert first["command"][-2:] == [PATH, "six\na$$(B)"]
    assert pod["containers"][0]["env"][0] == {"name": "PYTHONPATH", "value": f"{PATH}:/own"}
    assert pod["volumes"] == [{"name": "trainway-packages", "emptyDir": {}}]
    mount = [{"name": "trainway-packages", "mountPath": PATH}]
    assert pod["containers"][0]["volumeMounts"] == first["volumeMounts"] == mount


TOLD = f"-oSetEnv=PYTHONPATH={PATH}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"command": ["/usr/sbin/sshd", "-De"]}, {"command": ["/usr/sbin/sshd", "-De", TOLD]}),
        ({"command": ["sshd"], "args": ["-De"]}, {"command": ["sshd"], "args": ["-De", TOLD]}),
        ({"args": ["sshd", "-De"]}, {"args": ["sshd", "-De", TOLD]}),
        ({"command": ["python", "train.py"]}, {"command": ["python", "train.py"]}),
    ],
)
def test_ranks_that_come_by_ssh_find_the_packages(
    before: dict[str, list[str]], after: dict[str, list[str]]
) -> None:
    (pod,) = pods(role("worker", **before))
    assert {name: pod["containers"][0][name] for name in before} == after


def test_initializers_install_nothing() -> None:
    (pod,) = pods(role("dataset-initializer"))
    assert set(pod) == {"containers"}


def test_what_the_image_has_is_not_installed(tmp_path: Path) -> None:
    assert pod_packages_program.main(str(tmp_path), "pytest") == 0


def test_a_failure_is_told_where_kubernetes_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho error: nothing like it\nexit 1\n")
    uv.chmod(0o755)
    words = tmp_path / "words"
    words.touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(pod_packages_program, "LAST_WORDS", str(words))
    assert pod_packages_program.main(str(tmp_path), "nothing-like-it") == 1
    assert words.read_text() == "the packages could not be installed: error: nothing like it"
