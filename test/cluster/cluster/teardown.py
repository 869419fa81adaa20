"""How a cluster is removed, by the one who started it or by anyone later.

Nothing of it is needed any more, so nothing is asked to end: processes are killed, the pods' ones
with them, mounts are detached, bridge, control groups and folder deleted.
"""

import logging
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from cluster.cgroups import delete_root
from cluster.network import delete_network
from cluster.processes import Identity, kill_all, process_start
from cluster.record import Record, records

log = logging.getLogger(__name__)

CONTAINER_LOGS: Final = Path("/var/log/containers")  # the kubelet's links, wherever its logs are


def remove(record: Record) -> None:
    """Stop what still runs of a cluster and remove all its traces."""
    kill_all(record.processes)
    if record.bridge:
        kill_all(shims(record.folder))
        delete_root(record.bridge)
        unlink_shim_sockets(record.folder)
        unlink_container_logs(record.folder)
        unmount(record.folder)
        delete_network(record.bridge, record.folder)
    shutil.rmtree(record.folder, ignore_errors=True)


def clear_leftovers() -> None:
    """Remove clusters whose owner was killed."""
    for record in records():
        if record.is_leftover():
            log.warning("removing what is left of the cluster in %s", record.folder)
            remove(record)


def shims(folder: Path) -> list[Identity]:
    """The processes that hold containers of this cluster."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "containerd-shim" in words[0] and any(word.startswith(f"{folder}/") for word in words):
            pid = int(path.parent.name)
            found.append(Identity(pid, process_start(pid)))
    return found


def unlink_shim_sockets(folder: Path) -> None:
    """Each shim has a socket outside the folder, and its address inside."""
    for path in folder.glob("containerd/state/*/k8s.io/*/address"):
        Path(path.read_text().removeprefix("unix://")).unlink(missing_ok=True)


def unlink_container_logs(folder: Path) -> None:
    if CONTAINER_LOGS.is_dir():
        for path in CONTAINER_LOGS.iterdir():
            with suppress(FileNotFoundError):  # that of another cluster may go meanwhile
                if path.is_symlink() and str(path.readlink()).startswith(f"{folder}/"):
                    path.unlink()


def unmount(folder: Path) -> None:
    """Detach all mounts in the folder, the last one first."""
    rows = Path("/proc/mounts").read_text().splitlines()
    points = [row.split()[1] for row in rows]
    for point in reversed([each for each in points if each.startswith(f"{folder}{os.sep}")]):
        subprocess.run(["umount", "--lazy", point], capture_output=True, check=False)
