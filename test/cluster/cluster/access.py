"""What a test needs of any cluster, ours or an existing one: a kubeconfig and a kubectl."""

import json
import os
import shutil
import subprocess
from functools import cached_property, partial
from pathlib import Path
from typing import Final

import yaml

from cluster import builds
from cluster.processes import START_SECONDS, Process, wait_until
from cluster.unavailable import UnavailableError
from trainway.json_types import Json

REPOSITORY: Final = Path(__file__).resolve().parents[3]
OUR_CRDS: Final = REPOSITORY / "manifests" / "crds"
JOBSET_CRDS: Final = Path("config", "components", "crd", "bases")


class Access:
    """A cluster that can be talked to."""

    kubeconfig: Path
    bin: Path  # kubectl is there

    @property
    def server(self) -> str:
        """The URL of the API server."""
        config = yaml.safe_load(self.kubeconfig.read_text())
        contexts = {each["name"]: each["context"] for each in config["contexts"]}
        clusters = {each["name"]: each["cluster"] for each in config["clusters"]}
        current = contexts[config["current-context"]]["cluster"]
        return str(clusters[current]["server"])

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002 - the name that subprocess.run has
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as administrator; with check, a failure is an error with what it said."""
        command = [str(self.bin / "kubectl"), "--kubeconfig", str(self.kubeconfig), *arguments]
        done = subprocess.run(command, input=input, capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done

    def open_gate(self, pod: Json, path: str) -> None:
        """Make a file that a pod waits for, as soon as kubectl is out of it.

        A container that ends takes along what is executed in it, and kubectl says that it failed.
        """
        place = ("-n", pod["metadata"]["namespace"], pod["metadata"]["name"])
        script = f"(sleep 1; touch {path}) >/dev/null 2>&1 &"
        self.kubectl("exec", *place, "--", "sh", "-c", script)

    def evict(self, namespace: str, pod: str) -> None:
        """Have a pod taken from its node, as `kubectl drain` does it."""
        metadata = {"name": pod, "namespace": namespace}
        wanted = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction"
        self.kubectl("create", "--raw", path, "-f", "-", input=json.dumps(wanted))

    def get(self, *arguments: str) -> Json:
        """`kubectl get ... -o json`, parsed."""
        answer: Json = json.loads(self.kubectl("get", *arguments, "-o", "json").stdout)
        return answer

    def find(self, kind: str, name: str, namespace: str = "default") -> Json | None:
        """One object; None if there is none of that name."""
        arguments = ("get", kind, name, "-n", namespace, "-o", "json", "--ignore-not-found")
        text = self.kubectl(*arguments).stdout
        found: Json | None = json.loads(text) if text else None
        return found

    def apply(self, *documents: Json, namespace: str = "") -> None:
        """Server-side apply of objects."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(documents)})
        place = ("--namespace", namespace) if namespace else ()
        self.kubectl("apply", "--server-side", "--force-conflicts", *place, "-f", "-", input=text)

    def rehearse(self, document: Json, namespace: str) -> Json:
        """The object as it would be created, after all webhooks."""
        arguments = ("create", "--dry-run=server", "-n", namespace, "-o", "json", "-f", "-")
        answer: Json = json.loads(self.kubectl(*arguments, input=json.dumps(document)).stdout)
        return answer

    def create_namespace(self, name: str) -> None:
        """A namespace in which pods can be created."""
        self.kubectl("create", "namespace", name)

    def delete_namespace(self, name: str) -> None:
        """Delete a namespace; its content goes in the background."""
        self.kubectl("delete", "namespace", name, "--wait=false")

    def install_jobset_crds(self) -> None:
        """The CRDs of the pinned JobSet, served when this returns."""
        source = builds.source_folder(builds.KUBERNETES, "sigs.k8s.io/jobset")
        self._install_once(source / JOBSET_CRDS)

    def install_our_crds(self) -> None:
        """The CRDs of this repository, served when this returns."""
        self._install_once(OUR_CRDS)

    @cached_property
    def _installed(self) -> set[Path]:
        """The folders whose CRDs are there: many tests ask for them."""
        return set()

    def _install_once(self, folder: Path) -> None:
        if folder not in self._installed:
            self.install_crds(folder)
            self._installed.add(folder)

    def install_crds(self, folder: Path) -> None:
        """The CRDs in a folder, served when this returns."""
        source = "-k" if (folder / "kustomization.yaml").exists() else "-f"
        apply = ["apply", "--server-side", "--force-conflicts", "-o", "name", source, str(folder)]
        for line in self.kubectl(*apply).stdout.splitlines():
            for path in self.paths_of_crd(line.partition("/")[2]):
                if not wait_until(partial(self.offers, path), START_SECONDS):
                    raise KubectlError(f"{path} is not served")

    def paths_of_crd(self, name: str) -> list[str]:
        """The list paths of all versions of a CRD."""
        spec = self.get("customresourcedefinition", name)["spec"]
        place, plural = f"/apis/{spec['group']}", spec["names"]["plural"]
        return [f"{place}/{version['name']}/{plural}" for version in spec["versions"]]

    def offers(self, path: str) -> bool:
        """Whether a list path is answered, and is among those that the API server tells of.

        That comes later, and programs that ask for it only when they start end without it.
        """
        place, _, plural = path.rpartition("/")
        return self.serves(path) and plural in self.told_at(place)

    def told_at(self, place: str) -> set[str]:
        """The resources of a group that the API server tells of."""
        done = self.kubectl("get", "--raw", place, check=False)
        listed = json.loads(done.stdout)["resources"] if done.returncode == 0 else ()
        return {str(each["name"]) for each in listed}

    def serves(self, path: str) -> bool:
        """Whether the API server answers this path."""
        return self.kubectl("get", "--raw", path, check=False).returncode == 0

    # What only a cluster of ours can do.

    def start_api_server(self) -> None:
        """Start the API server again."""
        raise UnavailableError("the API server of an existing cluster is not started by tests")

    def kill_api_server(self) -> None:
        """Kill the API server as a crash would."""
        raise UnavailableError("the API server of an existing cluster is not killed by tests")

    def restart_api_server(self) -> None:
        """Kill the API server and start it again with the same data on the same port."""
        raise UnavailableError("the API server of an existing cluster is not killed by tests")

    def start_controller_manager(self) -> Process:
        """Run controllers of Kubernetes itself."""
        raise UnavailableError("an existing cluster has the controllers that it has")


class KubectlError(Exception):
    """A cluster did not do what it was asked; the message is the command and what was said."""


class ExistingCluster(Access):
    """A cluster that was there before: `TRAINWAY_TEST_CLUSTER=existing` and `KUBECONFIG`."""

    def __init__(self) -> None:
        path = os.environ.get("KUBECONFIG")
        program = shutil.which("kubectl")
        if not path:
            raise UnavailableError("an existing cluster needs KUBECONFIG")
        self.kubeconfig = Path(path)
        if program:
            self.bin = Path(program).parent
        else:
            self.bin = builds.build(builds.KUBERNETES, ["kubectl"])
