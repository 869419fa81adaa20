"""From an MPIJob to all its pods: `python benchmarks/mpijobs.py [--short] [NAME...]`.

The measurements are in mpijob_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    sys.path[:1] = [ROOT, f"{ROOT}/test/cluster"]
    from benchmarks.mpijob_load import main

    sys.exit(main(sys.argv[1:]))
