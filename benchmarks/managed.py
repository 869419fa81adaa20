"""The managed queue under load: `python benchmarks/managed.py`.

The measurements are in managed_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    sys.path[:1] = [__file__.rpartition("/benchmarks/")[0] or "."]
    from benchmarks.managed_load import main

    sys.exit(main(sys.argv[1:]))
