"""JAX on several processes: one program over an array that is spread over all of them.

    trainway run --runtime jax-distributed --nodes 2 examples/jax_train.py

The runtime gives each process the coordinator's address, the number of processes and its own
number.
"""

import argparse
import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from progress import report

FEATURES, ROWS = 16, 256


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--output-dir", default=os.environ.get("TRAINWAY_OUTPUT_DIR", "output"))
    options = parser.parse_args()

    jax.distributed.initialize(
        os.environ["JAX_COORDINATOR_ADDRESS"],
        int(os.environ["JAX_NUM_PROCESSES"]),
        int(os.environ["JAX_PROCESS_ID"]),
    )
    process, count = jax.process_index(), jax.process_count()
    mesh = Mesh(jax.devices(), ("data",))
    rows, everywhere = (
        NamedSharding(mesh, PartitionSpec("data")),
        NamedSharding(mesh, PartitionSpec()),
    )

    random = np.random.default_rng(process)  # every process makes its own part of the data
    mine = random.normal(size=(ROWS * jax.local_device_count(), FEATURES)).astype("float32")
    inputs = jax.make_array_from_process_local_data(rows, mine)
    targets = jax.make_array_from_process_local_data(rows, mine.sum(axis=1))
    weights = jax.device_put(jnp.zeros(FEATURES), everywhere)

    def loss_of(weights, inputs, targets):
        return jnp.mean((inputs @ weights - targets) ** 2)

    @jax.jit
    def step_of(weights, inputs, targets):
        loss, gradient = jax.value_and_grad(loss_of)(weights, inputs, targets)
        return weights - 0.05 * gradient, loss

    for step in range(1, options.steps + 1):
        weights, loss = step_of(weights, inputs, targets)
        loss = float(loss)  # the mean over all processes: the compiler put in the communication
        if process == 0 and (step == 1 or step % 10 == 0):
            print(f"step {step}/{options.steps} loss {loss:.4f} processes {count}", flush=True)
            report(100 * step / options.steps, loss=loss)

    if process == 0:
        checkpoint = Path(options.output_dir) / "weights.npy"
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        np.save(checkpoint, np.asarray(weights))
        print(f"checkpoint {checkpoint}", flush=True)
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
