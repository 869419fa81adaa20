"""A user with kubectl, oc and our plugins for them, in one namespace of a cluster.

oc runs plugins as kubectl does, so a kubectl under its name stands for it.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from cluster.access import Access
from installation import TRAINWAY

PATIENCE_S: Final = 180.0
PLUGINS: Final = ("kubectl", "oc")
OURS: Final = "trainway"


@dataclass(frozen=True)
class Shell:
    """Runs the commands of MPIJobs, by whichever program."""

    bin: Path
    kubeconfig: Path

    def run(
        self, *words: str, program: str = "kubectl", check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        done = self.start(*words, program=program)
        out, err = done.communicate(timeout=PATIENCE_S)
        result = subprocess.CompletedProcess(words, done.returncode, out, err)
        assert not check or result.returncode == 0, (words, out, err)
        return result

    def start(self, *words: str, program: str = "kubectl") -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        path = os.pathsep.join([str(self.bin), str(TRAINWAY.parent), os.environ["PATH"]])
        head = [str(TRAINWAY)] if program == OURS else [str(self.bin / program), "odh"]
        return subprocess.Popen(
            [*head, "mpijob", *words],
            env={**os.environ, "PATH": path, "KUBECONFIG": str(self.kubeconfig)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def shell_in(cluster: Access, namespace: str, folder: Path) -> Shell:
    """A shell whose kubeconfig, which lies in the folder, names the namespace."""
    for name in PLUGINS:
        (folder / name).symlink_to(cluster.bin / "kubectl")
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    for context in config["contexts"]:
        context["context"]["namespace"] = namespace
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))
    return Shell(folder, folder / "kubeconfig")
