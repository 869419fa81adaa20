"""The ways to create an MPIJob, on a real API server with our controller: all give the same."""

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import yaml
from cluster.access import Access
from cluster.identities import CONTEXT
from installation import TRAINWAY, Installation
from mpijob_world import Run

from trainway.agent.kubelet.variables import DEFAULTS, VARIABLES
from trainway.jobset.labels import JOB_ID, USER
from trainway.json_types import Json
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, MPIJOBS
from trainway.operator.mpijobs.testing_cluster import Stage
from trainway.sdk.address import Home
from trainway.sdk.rest import Rest, Submission
from trainway.sdk.server_process import ServerProcess
from trainway.training import MPIJob, ResourceRequirements

IMAGE, COMMAND, CPU, WORKERS = "team/train:v1", "python train.py --lr 0.1", "500m", 4
INDEXES = ("JOB_COMPLETION_INDEX", "TRAINWAY_REPLICA_INDEX")
"""The variables of which the server makes the rank of a worker."""


@dataclass(frozen=True)
class Ways:
    """Who wants an MPIJob of four workers in a namespace."""

    kubeconfig: Path
    namespace: str
    folder: Path
    server: Installation

    def by_command(self, name: str, *more: str) -> str:
        """What `trainway mpijob create` prints."""
        words = ("--image", IMAGE, "--command", COMMAND, "--workers", str(WORKERS), "--cpu", CPU)
        return self._create(name, *words, *more)

    def by_sdk(self, name: str) -> None:
        """From Python."""
        MPIJob(
            name,
            namespace=self.namespace,
            image=IMAGE,
            command=COMMAND,
            workers=WORKERS,
            resources=ResourceRequirements(cpu=CPU),
            kubeconfig=self.kubeconfig,
        ).create()

    def by_manifest(self, name: str) -> None:
        """From a file."""
        file = self.folder / f"{name}.yaml"
        file.write_text(self.by_command(name, "--dry-run=client", "-o", "yaml"))
        self._create("-f", str(file))

    def by_form(self, name: str) -> None:
        """As the page Create does it: a form becomes a text, which is checked and submitted."""
        backend = f"k8s/{CONTEXT}/{self.namespace}"
        self.server.server_pid()  # there is a server from now on
        home = Home(self.server.home)
        server = Rest.connect(str(home.address(home.server_info())))
        form = {"name": name, "image": IMAGE, "command": COMMAND, "nodes": WORKERS, "cpu": CPU}
        made = server.transport.request("POST", "/drafts", body={"kind": "MPIJob", **form})
        text = {"text": yaml.safe_dump(made["document"]), "backend": backend}
        found = server.transport.request("POST", "/drafts/check", body=text)
        assert found["errors"] == []
        options = {"backend": backend, "labels": found["labels"]}
        server.submit(Submission(found["objects"], options))

    def _create(self, *words: str) -> str:
        done = subprocess.run(
            [str(TRAINWAY), "mpijob", "create", *words, "-n", self.namespace],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def test_command_sdk_manifest_and_form_give_the_same_objects(
    on_stage: Run, mpijob_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = mpijob_cluster.kubeconfig
    server = Installation(tmp_path / "home", {"KUBECONFIG": str(kubeconfig)})
    ways = Ways(kubeconfig, namespace, tmp_path, server)
    found: dict[str, list[Json]] = {}

    async def play(here: Stage) -> None:
        creators: dict[str, Callable[[str], object]] = {
            "by-command": ways.by_command,
            "by-sdk": ways.by_sdk,
            "by-manifest": ways.by_manifest,
            "by-form": ways.by_form,
        }
        for name, create in creators.items():
            await asyncio.to_thread(create, name)
            children = ((MPIJOBS, name), (JOBSETS, name), (CONFIG_MAPS, f"{name}-config"))
            objects = [await here.until(kind, child) for kind, child in children]
            found[name] = [essence(obj, name) for obj in objects]

    try:
        on_stage(play)
    finally:  # nobody here collects garbage, so a job that is deleted would never be gone
        ServerProcess(Home(server.home)).stop()
    first, sdk, manifest, form = found.values()
    assert first[0]["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == WORKERS
    assert sdk == first
    assert manifest == first
    assert form != first
    assert [without_marks(obj) for obj in form] == first


def essence(obj: Json, name: str) -> Json:
    """What is not different each time: labels, annotations, spec and data, whatever the name."""
    metadata = {key: obj["metadata"].get(key) or {} for key in ("labels", "annotations")}
    parts = {"metadata": metadata, "spec": obj.get("spec"), "data": obj.get("data")}
    text = json.dumps(parts, sort_keys=True).replace(name, "NAME")
    for uid in (obj["metadata"]["uid"], *owners(obj)):
        text = text.replace(uid, "UID")
    found: Json = json.loads(text)
    return found


def owners(obj: Json) -> list[str]:
    """The uids of its owners."""
    return [owner["uid"] for owner in obj["metadata"].get("ownerReferences") or ()]


def without_marks(obj: Json) -> Json:
    """An object of a job of the server, without the marks by which the server knows it again."""
    labels = obj["metadata"]["labels"]
    kept = {key: value for key, value in labels.items() if key not in (JOB_ID, USER)}
    names = {*(variable.name for variable in VARIABLES), *INDEXES, *DEFAULTS}
    text = json.dumps({**obj, "metadata": {**obj["metadata"], "labels": kept}})
    plain: Json = json.loads(text, object_hook=lambda found: unmarked(found, names))
    return plain


def unmarked(found: Json, names: Collection[str]) -> Json:
    """A container without these variables; anything else as it is."""
    if not isinstance(found.get("env"), list):
        return found
    env = [each for each in found["env"] if each["name"] not in names]
    return {**found, "env": env} if env else {k: v for k, v in found.items() if k != "env"}
