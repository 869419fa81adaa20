"""Flux: every job brings its own Flux instance, installed by an init container.

The node's command is wrapped by an entry point that starts a broker on each node and runs the
command from the first one. `flux_scripts` holds the scripts.
"""

from collections.abc import Iterator

from trainway.api.runtime import FluxPolicy
from trainway.compiler.companions import config_map, secret
from trainway.compiler.devices import gpus
from trainway.compiler.host_list import host_indexes
from trainway.compiler.plugins.flux_scripts import FluxCluster, entrypoint_script, init_script
from trainway.compiler.workload import Role, Workload
from trainway.jobset.model import Container
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

INSTALLER = "flux-installer"
CONFIG_PATH = "/etc/flux-config"
DEFAULTS = {
    "FLUX_VIEW_IMAGE": "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
    "FLUX_NETWORK_DEVICE": "eth0",
    "FLUX_QUEUE_POLICY": "fcfs",
}
"""Settings that variables of the node container change."""


class Flux:
    """Active where the runtime has the policy `flux`."""

    name = "Flux"
    order = 600

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """The runtime has no init container of the installer's name."""
        role = workload.trainer
        if workload.ml_policy.flux is None or role is None:
            return
        if any(container.name == INSTALLER for container in role.pod.init_containers):
            path = ("spec", "trainer", "initContainers")
            yield invalid(path, INSTALLER, f"InitContainer '{INSTALLER}' is reserved")

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Install Flux, mount its parts and wrap the command."""
        role, node = workload.trainer, workload.node
        if workload.ml_policy.flux is None or role is None or node is None:
            return
        _wrap_command(workload, node)
        _add_volumes(role, workload)
        _add_installer(role, workload, node)
        _add_mounts(node, workload)

    def build(self, workload: Workload) -> Iterator[Json]:
        """The scripts and the certificate by which the brokers know each other."""
        policy, role, node = workload.ml_policy.flux, workload.trainer, workload.node
        if policy is None or role is None or node is None:
            return
        cluster = _cluster(workload, policy, role, node)
        scripts = {"entrypoint.sh": entrypoint_script(cluster), "init.sh": init_script(cluster)}
        yield config_map(workload.owned(_config_name(workload)), scripts)
        certificate = {"curve.cert": workload.keys.curve_certificate()}
        yield secret(workload.owned(_curve_name(workload)), certificate)


def _settings(node: Container) -> dict[str, str]:
    given = {entry["name"]: entry.get("value", "") for entry in node.env if entry.get("value")}
    return {name: given.get(name, default) for name, default in DEFAULTS.items()}


def _cluster(workload: Workload, policy: FluxPolicy, role: Role, node: Container) -> FluxCluster:
    settings, network = _settings(node), workload.network
    tasks = workload.settings.num_proc_per_node or policy.num_proc_per_node
    return FluxCluster(
        hosts=tuple(
            network.pod_name(role.name, pod) for pod in host_indexes(role.name, role.count)
        ),
        domain=network.domain,
        tasks_per_node=tasks,
        gpus_per_task=gpus(workload.node_resources),
        network_device=settings["FLUX_NETWORK_DEVICE"],
        queue_policy=settings["FLUX_QUEUE_POLICY"],
    )


def _wrap_command(workload: Workload, node: Container) -> None:
    """Upstream's form: the command in one word; arguments of the runtime stay behind it."""
    own = workload.template_container()
    words = [*node.command, *(workload.settings.args or [])]
    node.data["command"] = ["/bin/bash", f"{CONFIG_PATH}/entrypoint.sh", " ".join(words).strip()]
    node.data.pop("args", None)
    if own is not None and own.data.get("args"):
        node.data["args"] = list(own.data["args"])


def _add_volumes(role: Role, workload: Workload) -> None:
    config = {"name": _config_name(workload), "defaultMode": 0o755}
    curve = {"secretName": _curve_name(workload), "defaultMode": 0o400}
    for volume in (
        {"name": "spack-install", "emptyDir": {}},
        {"name": "flux-install", "emptyDir": {}},
        {"name": _config_name(workload), "configMap": config},
        {"name": "shared-memory", "emptyDir": {"medium": "Memory"}},
        {"name": "flux-curve", "secret": curve},
    ):
        role.pod.set_volume(volume)


def _add_installer(role: Role, workload: Workload, node: Container) -> None:
    command = ["/bin/bash", f"{CONFIG_PATH}/init.sh"]
    image = _settings(node)["FLUX_VIEW_IMAGE"]
    installer = Container({"name": INSTALLER, "image": image, "command": command})
    installer.set_mount("flux-install", "/mnt/flux")
    installer.set_mount(_config_name(workload), CONFIG_PATH, readOnly=True)
    role.pod.spec.setdefault("initContainers", []).append(installer.data)


def _add_mounts(node: Container, workload: Workload) -> None:
    node.set_mount("flux-install", "/mnt/flux")
    node.set_mount("spack-install", "/opt/software")
    node.set_mount(_config_name(workload), CONFIG_PATH, readOnly=True)
    node.set_mount("flux-curve", "/curve", readOnly=True)
    node.set_mount("shared-memory", "/dev/shm")  # noqa: S108 (writable, unlike upstream: D11)


def _config_name(workload: Workload) -> str:
    return f"{workload.name}-flux-entrypoint"


def _curve_name(workload: Workload) -> str:
    return f"{workload.name}-flux-curve"
