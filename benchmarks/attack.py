"""What somebody on the same machine can do to a server: `python benchmarks/attack.py [NAME...]`.

The attacks are in attack_cases.py; as a module it is found only from the repository's root.
"""

import sys

if __name__ == "__main__":
    sys.path[:1] = [__file__.rpartition("/benchmarks/")[0] or "."]
    from benchmarks.attack_cases import main

    sys.exit(main(sys.argv[1:]))
