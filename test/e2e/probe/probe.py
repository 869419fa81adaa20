"""Prints what a process of a job finds: its environment, its limit, its directory, its files."""

import json
import os
import pathlib
import sys
from collections.abc import Iterator

import probe_module

GROUPS = pathlib.Path("/sys/fs/cgroup")


def limits() -> Iterator[int]:
    """The memory limits of this process, in bytes, as either version of control groups has them."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = (GROUPS, "memory.max")
        if controllers:
            root, name = GROUPS / "memory", "memory.limit_in_bytes"
        own = root / path.lstrip("/")
        # In a container the group is what is mounted, whatever it is called outside.
        for folder in (own, *own.parents):
            try:
                yield int((folder / name).read_text())
            except (OSError, ValueError):  # `max` is no limit
                continue


output = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
(output / ("rank-" + os.environ["TRAINWAY_RANK"])).write_text("here")
found = {
    "environment": dict(os.environ),
    "directory": str(pathlib.Path.cwd()),
    "module": probe_module.WORD,
    "data": pathlib.Path(__file__).with_name("probe_data.txt").exists(),
    "limits": list(limits()),
}
sys.stdout.write(f"probe: {json.dumps(found)}\n")
