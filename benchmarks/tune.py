"""A search against the grid that it stands for: `python benchmarks/tune.py`.

The measurement is in tune_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    sys.path[:1] = [__file__.rpartition("/benchmarks/")[0] or "."]
    from benchmarks.tune_load import main

    sys.exit(main(sys.argv[1:]))
