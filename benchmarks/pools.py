"""What a job on a warm worker costs: `python benchmarks/pools.py [NAME...]`.

The measurements are in pool_latency.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    sys.path[:1] = [__file__.rpartition("/benchmarks/")[0] or "."]
    from benchmarks.pool_latency import main

    sys.exit(main(sys.argv[1:]))
