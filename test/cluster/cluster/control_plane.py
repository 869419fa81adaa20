"""The processes that keep a cluster's state: etcd and kube-apiserver, and the controller manager.

This is all of the *api* size and the foundation of the *node* size. The API server can be killed
and started again on the same data and port, as tests of reconnection want it.
"""

import http.client
import json
import os
import shutil
import signal
import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from cluster import builds
from cluster.access import Access
from cluster.api_requests import ApiError, ApiRequests
from cluster.certificates import Authority, service_account_key
from cluster.identities import User, with_token, write_kubeconfig, write_token_file
from cluster.ports import free_port
from cluster.processes import Process
from cluster.record import Record, new_folder
from cluster.teardown import clear_leftovers, remove
from cluster.unavailable import UnavailableError
from trainway.json_types import Json

LOOPBACK: Final = "127.0.0.1"
RATE: Final = ("--kube-api-qps=2000", "--kube-api-burst=4000")
"""No limit of requests that a test would notice; by default some controllers have 20 a second."""
PROBE_S: Final = 5.0
REQUEST_S: Final = 60.0
SERVICE_RANGE: Final = "10.96.0.0/16"
USERS: Final = {
    "admin": User("admin", ("system:masters",)),
    "controller-manager": User("system:kube-controller-manager"),
    "scheduler": User("system:kube-scheduler"),
    "node": User("system:node:node", ("system:nodes",)),
}
# What the controllers that tests ask for by default need: no cloud, no node, no signing.
CONTROLLERS: Final = (
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "ttl-after-finished-controller",
)


def programs_folder(names: Sequence[str]) -> Path:
    """The folder with these programs: `KUBEBUILDER_ASSETS` if it is set, else our build."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if not assets:
        return builds.build(builds.KUBERNETES, names)
    missing = [name for name in names if not Path(assets, name).exists()]
    if missing:
        raise UnavailableError(f"{', '.join(missing)}: not in KUBEBUILDER_ASSETS")
    return Path(assets)


def etcd_program() -> str:
    """Debian's etcd, or envtest's."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    found = shutil.which("etcd", path=assets) if assets else shutil.which("etcd")
    if found is None:
        raise UnavailableError("etcd: not found; apt-get install etcd-server")
    return found


class ControlPlane(Access):
    """etcd and an API server, started by `start` and gone after `stop`."""

    size = "api"
    programs: tuple[str, ...] = ("kube-apiserver", "kubectl")

    def __init__(
        self, *, flags: Sequence[str] = (), stays: bool = False, host: str = LOOPBACK
    ) -> None:
        self.flags = tuple(flags)
        self.stays = stays
        self.host = host
        self.folder = Path()
        self.processes: list[Process] = []
        self.users: dict[str, User] = {}
        self.requests = ApiRequests(
            lambda: self.connection(timeout_s=REQUEST_S), lambda: self.users["admin"].token
        )

    @classmethod
    def require(cls) -> None:
        """See to it that the machine has what is not built."""
        etcd_program()

    @classmethod
    def all_programs(cls) -> tuple[str, ...]:
        """Those of Kubernetes, and others."""
        return cls.programs

    @classmethod
    def build(cls) -> Path:
        """Build what is missing; gives the folder with Kubernetes' programs."""
        return programs_folder(cls.programs)

    def start(self) -> None:
        """Start everything; what was started is stopped again if a part fails."""
        self.require()
        self.bin = self.build()
        clear_leftovers()
        self.folder = new_folder()
        self.record = Record(self.folder, self.size, self.stays)
        self.record.write()
        try:
            self.start_parts()
        except BaseException:
            self.stop()
            raise

    def start_parts(self) -> None:
        """The parts in their order."""
        self.prepare_identities()
        self.start_etcd()
        self.launch_api_server()
        self.start_meanwhile()
        self.wait_for_api_server()

    def start_meanwhile(self) -> None:
        """What need not wait for the API server."""

    def stop(self) -> None:
        """Stop all processes and remove all data."""
        self.requests.close()
        for process in reversed(self.processes):
            process.stop(signal.SIGKILL)
        self.processes.clear()
        remove(self.record)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def launch(
        self, name: str, command: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> Process:
        """Start a process that belongs to the cluster; it is recorded for whoever clears up."""
        log_file = self.folder / f"{name}.log"
        process = Process(name, command, log_file, self.stays, variables or {})
        process.start()
        self.processes.append(process)
        self.note(process)
        return process

    def note(self, process: Process) -> None:
        if process.identity is not None:
            self.record.processes.append(process.identity)
        self.record.write()

    # The API server

    def prepare_identities(self) -> None:
        """Certificates, tokens and kubeconfig files."""
        pki = self.folder / "pki"
        self.authority = Authority(pki)
        self.serving = self.authority.issue(
            "kube-apiserver",
            hosts=[self.host, LOOPBACK, "localhost", "kubernetes.default.svc", "10.96.0.1"],
        )
        self.kubelet_client = self.authority.issue(
            "kube-apiserver-kubelet-client", organization="system:masters"
        )
        self.account_key = service_account_key(pki)
        self.users = {role: with_token(user) for role, user in USERS.items()}
        write_token_file(pki / "tokens.csv", list(self.users.values()))
        self.port = free_port(self.host)
        self.kubeconfig = self.kubeconfig_of("admin")

    def kubeconfig_of(self, role: str) -> Path:
        """A kubeconfig for one of the users."""
        path = self.folder / f"{role}.kubeconfig"
        if not path.exists():
            server = f"https://{self.host}:{self.port}"
            authority = self.authority.certificate_file
            write_kubeconfig(path, server, authority, self.users[role].token)
        return path

    def start_etcd(self) -> None:
        """A store that does not wait for the disk: its data need not survive the machine."""
        self.etcd_port = free_port()
        clients = f"http://{LOOPBACK}:{self.etcd_port}"
        peers = f"http://{LOOPBACK}:{free_port()}"
        etcd = self.launch(
            "etcd",
            [
                etcd_program(),
                f"--data-dir={self.folder / 'etcd'}",
                "--unsafe-no-fsync",
                f"--listen-client-urls={clients}",
                f"--advertise-client-urls={clients}",
                f"--listen-peer-urls={peers}",
                f"--initial-advertise-peer-urls={peers}",
                f"--initial-cluster=default={peers}",
                "--quota-backend-bytes=4294967296",
                "--log-level=warn",
            ],
        )
        etcd.wait_ready(self.etcd_is_healthy)

    def etcd_is_healthy(self) -> bool:
        return succeeds_at(self.etcd_port, "/health")

    def api_server_command(self) -> list[str]:
        """The command line of the API server."""
        pki = self.folder / "pki"
        return [
            str(self.bin / "kube-apiserver"),
            f"--etcd-servers=http://{LOOPBACK}:{self.etcd_port}",
            f"--bind-address={self.host}",
            f"--advertise-address={self.host}",
            f"--secure-port={self.port}",
            f"--cert-dir={pki}",
            f"--tls-cert-file={self.serving.certificate}",
            f"--tls-private-key-file={self.serving.key}",
            f"--client-ca-file={self.authority.certificate_file}",
            f"--token-auth-file={pki / 'tokens.csv'}",
            f"--service-account-key-file={self.account_key}",
            f"--service-account-signing-key-file={self.account_key}",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--allow-privileged=true",
            "--profiling=false",
            *self.size_flags(),
            *self.flags,
        ]

    def size_flags(self) -> list[str]:
        """Flags of this size. Nobody makes service accounts here, and nobody calls services."""
        return [
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--endpoint-reconciler-type=none",
        ]

    def start_api_server(self) -> None:
        """Start it and wait until it serves."""
        self.launch_api_server()
        self.wait_for_api_server()

    def launch_api_server(self) -> None:
        self.api_server = self.launch("kube-apiserver", self.api_server_command())

    def wait_for_api_server(self) -> None:
        self.api_server.wait_ready(lambda: self.answers("/readyz"))

    def kill_api_server(self) -> None:
        """Kill it as a crash would."""
        self.api_server.stop(signal.SIGKILL)
        self.processes.remove(self.api_server)

    def restart_api_server(self) -> None:
        """Kill it and start it again with the same data on the same port."""
        self.kill_api_server()
        self.start_api_server()

    def forget_old_versions(self) -> None:
        """Compact etcd; the API server's own memory goes with a restart."""
        etcd = http.client.HTTPConnection(LOOPBACK, self.etcd_port, timeout=10)
        try:
            etcd.request("POST", "/v3/kv/range", json.dumps({"key": "AA=="}))
            revision = json.loads(etcd.getresponse().read())["header"]["revision"]
            body = json.dumps({"revision": revision, "physical": True})
            etcd.request("POST", "/v3/kv/compaction", body)
            if etcd.getresponse().status != http.HTTPStatus.OK:
                raise UnavailableError("etcd did not compact")
        finally:
            etcd.close()

    def answers(self, path: str, port: int = 0) -> bool:
        """Whether the API server, or the one on another port, answers this path with success."""
        return succeeds(self.connection(port), path, self.users["admin"].token)

    def connection(self, port: int = 0, timeout_s: float = PROBE_S) -> http.client.HTTPSConnection:
        """A new connection to the API server."""
        context = ssl.create_default_context(cafile=str(self.authority.certificate_file))
        return http.client.HTTPSConnection(
            self.host, port or self.port, timeout=timeout_s, context=context
        )

    # Objects: what kubectl does for any cluster is asked directly of this one

    def get(self, *arguments: str) -> Json:
        return self.requests.get(*arguments)

    def find(self, kind: str, name: str, namespace: str = "default") -> Json | None:
        return self.requests.find(kind, name, namespace)

    def apply(self, *documents: Json, namespace: str = "") -> None:
        for document in documents:
            self.requests.apply(document, namespace)

    def rehearse(self, document: Json, namespace: str) -> Json:
        return self.requests.rehearse(document, namespace)

    def serves(self, path: str) -> bool:
        try:
            self.requests.send("GET", path)
        except ApiError:
            return False
        return True

    def told_at(self, place: str) -> set[str]:
        """What it tells of both in the older way and in the newer one."""
        try:
            listed = self.requests.send("GET", place)["resources"]
        except ApiError:
            return set()
        return {str(each["name"]) for each in listed} & self.requests.plurals(place)

    def create_namespace(self, name: str) -> None:
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def delete_namespace(self, name: str) -> None:
        self.requests.delete("namespace", name)

    # Controllers

    def start_controller_manager(self, controllers: Sequence[str] = CONTROLLERS) -> Process:
        """Run controllers of Kubernetes itself: garbage collection, Jobs."""
        programs = builds.build(builds.KUBERNETES, ["kube-controller-manager"])
        return self.launch(
            "kube-controller-manager",
            [
                str(programs / "kube-controller-manager"),
                f"--kubeconfig={self.kubeconfig_of('controller-manager')}",
                f"--controllers={','.join(controllers)}",
                f"--service-account-private-key-file={self.account_key}",
                f"--root-ca-file={self.authority.certificate_file}",
                "--leader-elect=false",
                f"--bind-address={LOOPBACK}",
                f"--secure-port={free_port()}",
                f"--cert-dir={self.folder / 'pki' / 'controller-manager'}",
                *self.controller_manager_flags(),
            ],
        )

    def controller_manager_flags(self) -> list[str]:
        return ["--use-service-account-credentials=false"]

    def start_scheduler(self) -> Process:
        """Run Kubernetes' own scheduler."""
        programs = builds.build(builds.KUBERNETES, ["kube-scheduler"])
        return self.launch(
            "kube-scheduler",
            [
                str(programs / "kube-scheduler"),
                f"--kubeconfig={self.kubeconfig_of('scheduler')}",
                "--leader-elect=false",
                f"--bind-address={LOOPBACK}",
                f"--secure-port={free_port()}",
                f"--cert-dir={self.folder / 'pki' / 'scheduler'}",
                *self.scheduler_flags(),
            ],
        )

    def scheduler_flags(self) -> list[str]:
        return list(RATE)


def succeeds_at(port: int, path: str) -> bool:
    """Whether a process answers on this port of loopback."""
    return succeeds(http.client.HTTPConnection(LOOPBACK, port, timeout=5), path)


def succeeds(connection: http.client.HTTPConnection, path: str, token: str = "") -> bool:
    """Whether a GET is answered with 200."""
    return status_of(connection, path, token) == http.HTTPStatus.OK


def status_of(connection: http.client.HTTPConnection, path: str, token: str = "") -> int:
    """What a GET is answered with; 0 if it is not. The connection is closed then."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()
