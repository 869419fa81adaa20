"""Folders of Slurm: the login node is asked, and a node for what that does not have."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

from trainway.backends.folders import Folder
from trainway.backends.slurm.nodes_folders import nodes_folders
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.json_types import Json


class Cluster:
    """Its login node is this machine; on its nodes everything is below a folder of their own."""

    def __init__(self, own: Path | None = None, status: int = 0) -> None:
        self.commands: list[list[str]] = []
        self._own = own
        self._status = status

    async def ask(self, argv: list[str]) -> Json:
        self.commands.append(argv)
        if argv[0] == "srun" and self._status:
            return {"status": self._status, "stdout": "", "stderr": "no node is free"}
        words = argv[argv.index("sh") :]
        if argv[0] == "srun" and self._own is not None:
            words = [str(self._own) + word if word.startswith("/") else word for word in words]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        return {"status": 0, "stdout": f"Welcome\n{done.stdout}", "stderr": ""}


def lacking(cluster: Cluster, *folders: Folder, **fields: Any) -> list[str]:
    described = ConfiguredCluster("hpc", **fields)
    return asyncio.run(nodes_folders(described, folders, cluster.ask))


def test_what_the_login_node_has_is_enough(tmp_path: Path) -> None:
    cluster = Cluster()
    assert lacking(cluster, Folder(str(tmp_path), is_written=True)) == []
    assert [argv[0] for argv in cluster.commands] == ["sh"]


def test_a_node_is_asked_for_the_rest(tmp_path: Path) -> None:
    scratch = "/local/scratch"
    (tmp_path / "local" / "scratch").mkdir(parents=True)
    cluster = Cluster(tmp_path)
    wanted = (Folder("/"), Folder(scratch), Folder("/srv/none"))
    said = lacking(cluster, *wanted, partition="gpu")
    assert said == ["/srv/none does not exist on the nodes"]
    job = cluster.commands[1]
    assert {"--immediate=5", "--partition=gpu", "--nodes=1"} <= set(job)
    assert "/" not in job[job.index("sh") :]


def test_without_a_free_node_nothing_is_refused() -> None:
    assert lacking(Cluster(status=1), Folder("/srv/none")) == []
