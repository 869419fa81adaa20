"""How long a job stands still when a host or a rank is lost: `python benchmarks/recovery.py`.

The measurements are in recovery_load.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    sys.path[:1] = [ROOT, f"{ROOT}/test/e2e", f"{ROOT}/test/ssh_hosts"]
    from benchmarks.recovery_load import main

    sys.exit(main(sys.argv[1:]))
