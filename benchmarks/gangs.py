"""Gangs through Kueue on nodes that only pretend: `python benchmarks/gangs.py [--gangs N] ...`.

The measurements are in gang_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    sys.path[:1] = [ROOT, f"{ROOT}/test/cluster"]
    from benchmarks.gang_load import main

    sys.exit(main(sys.argv[1:]))
