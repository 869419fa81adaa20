"""What the operator costs, beside Kubeflow Trainer's: `python benchmarks/operator.py [NAME...]`.

This file has the name of a module of the standard library. A script of this folder that is started
by its path would get it in place of the library, so it then steps aside.
"""
# ruff: noqa: A005

import sys

if __name__ == "operator":
    del sys.path[0], sys.modules["operator"]
    import operator  # noqa: F401 (now the library, for whoever wanted it)

if __name__ == "__main__":
    ROOT = __file__.rpartition("/benchmarks/")[0] or "."
    sys.path[:1] = [ROOT, f"{ROOT}/test/cluster"]
    from benchmarks.operator_comparison import main

    sys.exit(main(sys.argv[1:]))
