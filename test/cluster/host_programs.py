"""This machine's programs in the pods of a namespace, whatever image they name.

No registry can be reached, so the images that examples and runtimes name cannot be pulled. In
namespaces with the label below every pod gets an image that is only a frame, and in it this
machine's `/usr`, its Python, the environment with torch and the folders of this repository: so
that manifests run on the *node* cluster as they are. A webhook of Kubernetes' own kind does it.
"""

import base64
import copy
import http.server
import json
import logging
import ssl
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from cluster.access import REPOSITORY, Access
from cluster.control_plane import LOOPBACK
from cluster.images import HOSTROOT, SEARCH_PATH, SSH_SERVER
from cluster.node import NodeCluster
from cluster.unavailable import UnavailableError
from environments import TORCH, environment, require_mpirun

from trainway.json_types import Json
from trainway.operator.manifests import runtimes

LABEL: Final = "trainway.dev/host-programs"
NAME: Final = "host-programs.trainway.dev"
FOLDERS: Final = ("examples", "src", "test")
"""What pods see of the repository. Its root itself is theirs to write to."""
MPI_HOME: Final = "/home/mpiuser"
CERTIFICATES: Final = "/etc/ssl/certs/ca-certificates.crt"
"""Programs that speak TLS do not start without, whether or not they then speak it."""
SSH_SERVERS: Final[Mapping[str, str]] = {
    "/etc/ssh/sshd_config": "/root",
    f"{MPI_HOME}/.sshd_config": MPI_HOME,
}
"""The configuration of sshd in the image, and the home directory whose keys it has."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class HostPrograms:
    """What a pod is given."""

    folders: tuple[str, ...]
    """Read-only, at the place they have here."""
    files: Mapping[str, str]
    """The place in the pod of single files of this machine."""
    scratch: tuple[str, ...]
    """Empty folders that everyone may write to."""
    search_path: str
    working_folder: str

    def given_to(self, pod: Json) -> Json:
        """The spec of a pod, with all that in it."""
        pod = copy.deepcopy(pod)
        sources = [*self._sources()]
        pod.setdefault("volumes", []).extend(volume for volume, _ in sources)
        mounts = [mount for _, mount in sources]
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            self._frame(container, mounts)
        return pod

    def _sources(self) -> Iterator[tuple[Json, Json]]:
        """Volumes, and where each is mounted."""
        places = [
            *((path, {"emptyDir": {}}, {}) for path in self.scratch),
            *((path, _on_host(path, "Directory"), {"readOnly": True}) for path in self.folders),
            *((path, _on_host(at, "File"), {"readOnly": True}) for path, at in self.files.items()),
        ]
        for number, (path, source, options) in enumerate(places):
            name = f"host-programs-{number}"
            yield {"name": name, **source}, {"name": name, "mountPath": path, **options}

    def _frame(self, container: Json, mounts: Sequence[Json]) -> None:
        probe_at_once(container)
        container["image"] = HOSTROOT
        container["imagePullPolicy"] = "Never"
        container.setdefault("workingDir", self.working_folder)
        variables = container.setdefault("env", [])
        if not any(variable["name"] == "PATH" for variable in variables):
            variables.append({"name": "PATH", "value": self.search_path})
        own = container.setdefault("volumeMounts", [])
        taken = {mount["mountPath"] for mount in own}
        own.extend(mount for mount in mounts if mount["mountPath"] not in taken)


def probe_at_once(container: Json) -> None:
    """Let a container be found ready as soon as it is: else after 5 s, and then each 10."""
    if "readinessProbe" in container:
        container["readinessProbe"] |= {"initialDelaySeconds": 0, "periodSeconds": 1}


def _on_host(path: str, kind: str) -> Json:
    return {"hostPath": {"path": path, "type": kind}}


def programs_of_this_machine(folder: Path) -> HostPrograms:
    """Torch, MPI and all of `/usr`; the folder keeps files that are made for pods."""
    require_mpirun()
    frameworks = environment(*TORCH).path
    search_path = f"{frameworks / 'bin'}:{SEARCH_PATH}"
    files = {CERTIFICATES: CERTIFICATES}
    for number, (place, home) in enumerate(SSH_SERVERS.items()):
        path = folder / f"sshd_config-{number}"
        # What mpirun starts on another node is a child of sshd there.
        path.write_text(f"{SSH_SERVER.format(home=home)}SetEnv PATH={search_path}\n")
        path.chmod(0o644)
        files[place] = str(path)
    paths = [Path("/usr"), Path(sys.base_prefix), Path(sys.prefix), frameworks]
    paths += [REPOSITORY / name for name in FOLDERS]
    return HostPrograms(
        folders=tuple(str(path) for path in outermost(paths)),
        files=files,
        scratch=(MPI_HOME, str(REPOSITORY)),
        search_path=search_path,
        working_folder=str(REPOSITORY),
    )


def outermost(paths: Sequence[Path]) -> list[Path]:
    """The paths, each once and without those that lie in another one."""
    return [
        path for path in dict.fromkeys(paths) if not any(other in path.parents for other in paths)
    ]


def answer(review: Json, programs: HostPrograms) -> Json:
    """The AdmissionReview that changes the pod of a request."""
    request = review["request"]
    spec = programs.given_to(request["object"]["spec"])
    patch = json.dumps([{"op": "replace", "path": "/spec", "value": spec}])
    response = {
        "uid": request["uid"],
        "allowed": True,
        "patchType": "JSONPatch",
        "patch": base64.b64encode(patch.encode()).decode(),
    }
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


def webhook_configuration(url: str, bundle: str) -> Json:
    """Pods of namespaces with the label are asked for at the URL."""
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    webhook = {
        "name": NAME,
        "clientConfig": {"url": url, "caBundle": bundle},
        "namespaceSelector": {"matchLabels": {LABEL: "true"}},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": NAME},
        "webhooks": [webhook],
    }


@contextmanager
def host_programs_on(cluster: Access) -> Iterator[HostPrograms]:
    """The webhook on a cluster, for as long as the block runs."""
    if not isinstance(cluster, NodeCluster):
        raise UnavailableError("the node of an existing cluster is not this machine")
    folder = cluster.folder / "host-programs"
    folder.mkdir(exist_ok=True)
    programs = programs_of_this_machine(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving = cluster.authority.issue("host-programs", hosts=[LOOPBACK])
    context.load_cert_chain(serving.certificate, serving.key)
    bundle = base64.b64encode(cluster.authority.certificate_file.read_bytes()).decode()
    with _serving(programs, context) as port:
        configuration = webhook_configuration(f"https://{LOOPBACK}:{port}/", bundle)
        cluster.apply(configuration)
        try:
            yield programs
        finally:
            cluster.kubectl("delete", configuration["kind"], NAME, "--ignore-not-found")


@contextmanager
def _serving(programs: HostPrograms, context: ssl.SSLContext) -> Iterator[int]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.dumps(answer(json.loads(self.rfile.read(length)), programs)).encode()
            self.send_response(http.HTTPStatus.OK)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its name there)
            _log.debug(format, *args)

    with http.server.ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        # The handshake is left to the thread of a connection: nobody waits for a slow client.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever, name="host-programs")
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def host_programs(node_cluster: Access) -> Iterator[HostPrograms]:
    """The programs, on the node cluster of the session."""
    with host_programs_on(node_cluster) as programs:
        yield programs


@pytest.fixture(scope="session")
def builtin_runtimes(node_cluster: Access) -> None:
    """The built-in runtimes, installed on the node cluster under their own names."""
    node_cluster.install_our_crds()
    node_cluster.apply(*runtimes())


@pytest.fixture
def host_namespace(node_cluster: Access, namespace: str, host_programs: HostPrograms) -> str:
    """A namespace of its own whose pods have this machine's programs."""
    return with_host_programs(node_cluster, namespace)


def with_host_programs(cluster: Access, namespace: str) -> str:
    """Label a namespace; its pods have the programs from now on."""
    metadata = {"name": namespace, "labels": {LABEL: "true"}}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    return namespace
