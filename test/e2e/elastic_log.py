"""What the log of an elastic job says of its size, for tests of all backends."""

import re
import subprocess


def next_size(log: subprocess.Popen[str], nodes: int) -> int:
    """Read up to a step that was done with so many nodes; which step that was."""
    assert log.stdout is not None
    for line in log.stdout:
        found = re.search(rf"step (\d+) nodes {nodes} ", line)
        if found:
            return int(found[1])
    raise AssertionError(f"no step was done with {nodes} nodes")
