"""What our Kubernetes backend costs, beside kubectl: `python benchmarks/kubernetes.py [NAME...]`.

The measurements are in cluster_latency.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    sys.path[:1] = [ROOT, f"{ROOT}/test/cluster", f"{ROOT}/test/e2e"]
    from benchmarks.cluster_latency import main

    sys.exit(main(sys.argv[1:]))
