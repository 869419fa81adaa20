"""What the history of metrics costs: `python benchmarks/metrics.py [--short] [NAME...]`.

The measurements are in metric_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    sys.path[:1] = [__file__.rpartition("/benchmarks/")[0] or "."]
    from benchmarks.metric_load import main

    sys.exit(main(sys.argv[1:]))
