"""What reading from a data cache costs: `python benchmarks/cache.py [THOUSAND_ROWS]`.

The measurement is in cache_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    sys.path[:1] = [ROOT, f"{ROOT}/test/e2e", f"{ROOT}/test/cluster"]
    from benchmarks.cache_load import main

    sys.exit(main(sys.argv[1:]))
