"""The command lines of podman and docker, for jobs that run in containers of their images.

Only words are put together here; nothing is started. Values of variables never stand in a command
line, where everybody could read them: the tool takes them from its own environment. Those few that
would change the tool itself are the exception.
"""

from __future__ import annotations

from trainway.agent.base.quantity import nano, times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trainway.agent.kubelet.bindings import Binding
    from trainway.json_types import Json


PODMAN = "podman"
LABEL = "trainway.job"
PULL = {"Always": "always", "IfNotPresent": "missing", "Never": "never"}

_STEERING = (
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "CONTAINER_HOST", "CONTAINER_CONNECTION"),
    *("CONTAINER_SSHKEY", "STORAGE_DRIVER", "STORAGE_OPTS", "REGISTRY_AUTH_FILE", "NOTIFY_SOCKET"),
    *("DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS"),
    *("DOCKER_TLS_VERIFY", "DOCKER_API_VERSION", "DBUS_SESSION_BUS_ADDRESS"),
)
_STEERING_PREFIXES = ("XDG_", "LD_", "CONTAINERS_", "_CONTAINERS_", "LISTEN_", "BUILDAH_")
_PASSED_ON = ("KUBEFLOW_TRAINER_", "OMPI_ALLOW_", "PYTHONUNBUFFERED")
_OWN_FAILURES = (125, 126, 127)
_COMPLAINTS = ("Error: ", "docker: ")
_LONGEST_COMPLAINT = 1000


class ContainerRun:
    """One container to be run."""

    def __init__(
        self, name: str, spec: Json, *, job_id: str, command: Sequence[str], args: Sequence[str]
    ) -> None:
        self.name = name
        self.spec = spec
        """The container as it is written, for its image, limits and pull policy."""
        self.job_id = job_id
        self.command = command
        """What replaces the entry point of the image; empty: nothing does."""
        self.args = args
        self.env: Mapping[str, str] = {}
        self.cwd = ""
        """The working directory; empty: that of the image."""
        self.bindings: Sequence[Binding] = ()
        self.gpus: Mapping[str, str] = {}
        """The variable that would tell a process which GPUs to use, and its value."""


class ContainerTool:
    """podman or docker, as a plan names it (`Plan.containers`)."""

    def __init__(self, data: Json) -> None:
        self.name = str(data.get("tool") or PODMAN)
        self._tool = [str(data.get("program") or self.name), *(data.get("flags") or [])]
        self._run_flags: list[str] = list(data.get("runFlags") or [])

    def run(self, run: ContainerRun) -> list[str]:
        """Run a container in the foreground; the tool passes signals on and ends as it does.

        The network is the machine's, as for processes: the pods of a job meet on its loopback. So
        is its shared memory, through which data loaders and NCCL move tensors.
        """
        entry = ["--entrypoint", run.command[0]] if run.command else []
        return [
            *(*self._tool, "run", "--rm", "--name", run.name, "--label", f"{LABEL}={run.job_id}"),
            *("--network", "host", "--ipc", "host", "--init", "--log-driver", "none"),
            # Where SELinux confines containers they could not read what is mounted.
            *("--security-opt", "label=disable"),
            *(["-w", run.cwd] if run.cwd else []),
            *_volumes(run.bindings),
            *_variables(run.env),
            *self._gpus(run.gpus),
            *_limits(run.spec),
            *_pull(run.spec),
            *self._run_flags,
            *entry,
            str(run.spec["image"]),
            *run.command[1:],
            *run.args,
        ]

    def execute(self, name: str, argv: Sequence[str], *, wait: bool = False) -> list[str]:
        """Run a program in a container that runs; with `wait`, as soon as it does."""
        command = [*self._tool, "exec", name, *argv]
        if not wait:
            return command
        state = [*self._tool, "container", "inspect", "-f", "{{.State.Running}}", name]
        asked = f'"$({_quoted(state)} 2>/dev/null)"'
        script = f'until [ {asked} = true ]; do sleep 0.1; done; exec "$@"'
        return ["/bin/sh", "-c", script, "sh", *command]

    def remove(self, name: str) -> list[str]:
        """Kill and remove a container; it may be gone already."""
        return [*self._tool, *self._removal(), name]

    def purge(self, job_id: str) -> list[str]:
        """Kill and remove all containers of a job, whichever agent started them."""
        listing = [*self._tool, "ps", "-aq", "--filter", f"label={LABEL}={job_id}"]
        removal = [*self._tool, *self._removal()]
        script = (
            f"ids=$({_quoted(listing)}) || exit; "
            f'[ -z "$ids" ] || {_quoted(removal)} $ids >/dev/null'
        )
        return ["/bin/sh", "-c", script]

    def _removal(self) -> list[str]:
        if self.name == PODMAN:
            return ["rm", "-f", "-t", "0", "--ignore"]
        return ["rm", "-f"]

    def _gpus(self, gpus: Mapping[str, str]) -> list[str]:
        words: list[str] = []
        for variable, value in gpus.items():
            if variable == "ROCR_VISIBLE_DEVICES":
                words += [
                    "--device",
                    "/dev/kfd",
                    "--device",
                    "/dev/dri",
                    "-e",
                    f"{variable}={value}",
                ]
            elif self.name == PODMAN:
                for index in value.split(","):
                    words += ["--device", f"nvidia.com/gpu={index}"]
            else:
                words += ["--gpus", f'"device={value}"']
        return words


class Contained:
    """A container that a command runs in, for all that is done to it from outside."""

    def __init__(self, tool: ContainerTool, name: str) -> None:
        self._tool = tool
        self._name = name

    def execute(self, argv: Sequence[str], *, wait: bool = False) -> list[str]:
        """Run a program beside its first one."""
        return self._tool.execute(self._name, argv, wait=wait)

    def remove(self) -> list[str]:
        """End it."""
        return self._tool.remove(self._name)


def inherited(env: Mapping[str, str]) -> dict[str, str]:
    """What of the submitter's environment means something in a container too."""
    return {name: value for name, value in env.items() if name.startswith(_PASSED_ON)}


def tool_environment(base: Mapping[str, str], inside: Mapping[str, str]) -> dict[str, str]:
    """The environment of the tool: its user's, and the values that it is to pass on."""
    passed = {name: value for name, value in inside.items() if not _steers(name)}
    return {**base, **passed}


def start_error(exit_code: int, errors: bytes) -> str:
    """What the tool had to say, where it was the tool that failed and not the program."""
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    if exit_code not in _OWN_FAILURES or not lines or not lines[-1].startswith(_COMPLAINTS):
        return ""
    return lines[-1].partition(": ")[2][:_LONGEST_COMPLAINT]


def _steers(name: str) -> bool:
    return name in _STEERING or name.startswith(_STEERING_PREFIXES)


def _variables(env: Mapping[str, str]) -> list[str]:
    words: list[str] = []
    for name, value in env.items():
        words += ["-e", f"{name}={value}" if _steers(name) else name]
    return words


def _volumes(bindings: Iterable[Binding]) -> list[str]:
    words: list[str] = []
    for binding in bindings:
        mode = ":ro" if binding.read_only else ""
        words += ["-v", f"{binding.source}:{binding.target}{mode}"]
    return words


def _limits(spec: Json) -> list[str]:
    limits = (spec.get("resources") or {}).get("limits") or {}
    words: list[str] = []
    if limits.get("cpu"):
        words += ["--cpus", f"{nano(limits['cpu']) / 10**9:.3f}"]
    if limits.get("memory"):
        words += ["--memory", f"{times(limits['memory'], 1)}b"]
    return words


def _pull(spec: Json) -> list[str]:
    policy = PULL.get(str(spec.get("imagePullPolicy") or ""))
    return ["--pull", policy] if policy else []


def _quoted(words: Iterable[str]) -> str:
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
