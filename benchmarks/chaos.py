"""Jobs while everything is killed: `python benchmarks/chaos.py [JOBS [SEED]]`.

The run is in chaos_run.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    folders = ("cluster", "e2e", "ssh_hosts", "slurm_cluster")
    sys.path[:1] = [ROOT, *(f"{ROOT}/test/{folder}" for folder in folders)]
    from benchmarks.chaos_run import main

    sys.exit(main(sys.argv[1:]))
