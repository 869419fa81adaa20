"""Whether the GPUs that a pod was given are there and sound, as nvidia-smi says.

NVML would answer the same questions, but a driver that is broken often hangs there, and only a
program of its own can be given up.
"""

from __future__ import annotations

import os
import posixpath

from trainway.agent.kubelet.gpus import nvidia_gpus
from trainway.agent.kubelet.health.xid import (
    UNREADABLE,
    bus_name,
    kernel_records,
    uptime_seconds,
    xid_problem,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECONDS = 15.0
FIELDS = "index,uuid,ecc.errors.uncorrected.volatile.total,pci.bus_id"
PROGRAM = "nvidia-smi"


def gpu_problem(wanted: Sequence[str], env: Mapping[str, str]) -> str:
    """What is wrong with these GPUs of NVIDIA, given by index or id; empty: nothing."""
    import subprocess  # noqa: PLC0415 - slow, and needed only in this child

    if not wanted:
        return ""
    argv = [f"--query-gpu={FIELDS}", "--format=csv,noheader,nounits"]
    program = on_path(PROGRAM, env.get("PATH") or os.defpath)
    if not program:
        count = nvidia_gpus()
        return "" if count >= len(wanted) else _too_few(count, wanted)
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and our own words
            [program, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{PROGRAM} did not answer within {SECONDS:g} s"
    except OSError as error:
        return f"{PROGRAM} cannot be started: {error.strerror}"
    said = done.stdout.decode("utf-8", "replace")
    if done.returncode:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        why = lines[-1] if lines else "it said nothing"
        return f"{PROGRAM} exited with {done.returncode}: {why[:200]}"
    return fault_in(said, wanted) or _xid_fault(said, wanted)


def gpus_checked(count: int) -> str:
    """What is said of so many GPUs with which nothing is wrong, and what nobody could look at."""
    unknown = f" ({UNREADABLE})" if kernel_records() is None else ""
    return f"{count} GPUs{unknown}"


def _xid_fault(table: str, wanted: Sequence[str]) -> str:
    records = kernel_records()
    gpus = addresses_in(table, wanted)
    return xid_problem(records, uptime_seconds(), gpus) if records and gpus else ""


def addresses_in(table: str, wanted: Sequence[str]) -> dict[str, str]:
    """The indexes of these GPUs by their addresses, where nvidia-smi says them."""
    known = _rows(table)
    rows = [_row(known, name) or [] for name in wanted]
    found = {bus_name(row[3]): row[0] for row in rows if len(row) > 3}
    return {address: index for address, index in found.items() if address}


def fault_in(table: str, wanted: Sequence[str]) -> str:
    """What the answer of nvidia-smi says against these GPUs; empty: nothing."""
    known = _rows(table)
    missing = [name for name in wanted if _row(known, name) is None]
    if missing:
        return _too_few(len(wanted) - len(missing), wanted)
    for name in wanted:
        row = _row(known, name) or ["", "", ""]
        if row[2].isdigit() and int(row[2]):
            return f"GPU {row[0]} has {row[2]} uncorrectable memory errors"
    return ""


def _rows(table: str) -> dict[str, list[str]]:
    """The lines of the answer, by index and by id."""
    rows = [[part.strip() for part in line.split(",")] for line in table.splitlines()]
    return {name: row for row in rows if len(row) in (3, 4) for name in row[:2]}


def _row(known: Mapping[str, list[str]], name: str) -> list[str] | None:
    """By its index, or by the beginning of its id, as CUDA_VISIBLE_DEVICES allows."""
    if name.isdigit() or name in known:
        return known.get(name)
    if name.startswith("MIG-"):  # a part of a GPU, which this table does not have
        return ["", "", ""]
    return next((row for full, row in known.items() if full.startswith(name)), None)


def _too_few(count: int, wanted: Sequence[str]) -> str:
    names = ", ".join(wanted)
    return f"{count} of the {len(wanted)} GPUs of the job are there ({names} were assigned)"


def on_path(program: str, path: str) -> str:
    """Where a program is; empty: nowhere on the path."""
    places = [posixpath.join(folder or ".", program) for folder in path.split(":")]
    return next((place for place in places if os.access(place, os.X_OK)), "")
