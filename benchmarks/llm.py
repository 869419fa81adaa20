"""How fast a language model is tuned on one GPU: `trainway.llm` against TRL without it.

    python3 benchmarks/llm.py --wheels build/wheels      on a machine with an NVIDIA H200
    python benchmarks/llm.py --tiny                      on any machine, to see that it runs

Each run is a process of its own (llm_load.py), and all are measured alike: the median time
of a step of the optimizer, after a few that are not counted. Weights and tokens are random. `ours`
is what `python -m trainway.llm` does by default; `same` is plain TRL that is given the same batch,
precision, packing, attention and checkpointing; `default` is TRL without arguments but for the
length, with the same adapter. `ours` must reach 0.98 of `same`.

No packages can be installed where it is measured, so the wheels of TRL and datasets come along in a
folder: `pip download --no-deps --only-binary=:all: --python-version 3.12 --platform
manylinux_2_28_x86_64 -d build/wheels trl datasets pyarrow pandas xxhash 'dill<0.4.2' multiprocess`.
"""

import sys

if __name__ == "__main__":
    sys.path[:1] = [__file__.rpartition("/benchmarks/")[0] or "."]
    from benchmarks.llm_runs import main

    sys.exit(main(__doc__ or ""))
