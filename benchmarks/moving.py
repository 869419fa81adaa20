"""A torch job that moves from place to place while it trains: `python benchmarks/moving.py`.

The measurements are in moving_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    folders = ("cluster", "e2e", "ssh_hosts", "slurm_cluster")
    sys.path[:1] = [ROOT, *(f"{ROOT}/test/{folder}" for folder in folders)]
    from benchmarks.moving_load import main

    sys.exit(main(sys.argv[1:]))
