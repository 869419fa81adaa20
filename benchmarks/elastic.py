"""What the loss of a host costs an elastic torch job: `python benchmarks/elastic.py [ssh]`.

The measurements are in elastic_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    sys.path[:1] = [ROOT, f"{ROOT}/test/e2e", f"{ROOT}/test/ssh_hosts"]
    from benchmarks.elastic_load import main

    sys.exit(main(sys.argv[1:]))
