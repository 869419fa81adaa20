"""Fits y = 3x + 1 by gradient descent: a training that needs nothing but Python.

Every node fits its own share of the points, reports how far it is, and keeps a checkpoint in the
job's output directory. A job that starts again continues from there:

  trainway run --nodes 2 --restarts 1 examples/regression.py --crash-at 60
"""

import argparse
import json
import os
from pathlib import Path

from progress import report

RANK = int(os.environ.get("TRAINWAY_RANK", "0"))
FIRST_ATTEMPT = os.environ.get("TRAINWAY_RESTART_ATTEMPT", "0") == "0"
CHECKPOINT = Path(os.environ.get("TRAINWAY_OUTPUT_DIR", "."), f"checkpoint-{RANK}.json")
POINTS = [(x / 10, 3 * x / 10 + 1) for x in range(-10 + RANK, 10, 2)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--crash-at", type=int, help="fail once, at this step")
    options = parser.parse_args()

    step, slope, offset = load()
    while step < options.steps:
        step += 1
        errors = [(slope * x + offset - y, x) for x, y in POINTS]
        slope -= options.lr * sum(error * x for error, x in errors) / len(errors)
        offset -= options.lr * sum(error for error, _ in errors) / len(errors)
        if step % 20 == 0:
            loss = sum(error * error for error, _ in errors) / len(errors)
            print(f"step {step}/{options.steps} loss {loss:.4f}")
            save(step, slope, offset)
            if RANK == 0:
                report(100 * step / options.steps, loss=loss)
        if step == options.crash_at and FIRST_ATTEMPT:
            raise SystemExit(f"crash at step {step}")
    print(f"y = {slope:.2f}x + {offset:.2f}")


def load() -> tuple[int, float, float]:
    if not CHECKPOINT.exists():
        return 0, 0.0, 0.0
    step, slope, offset = json.loads(CHECKPOINT.read_text())
    print(f"continue from step {step}")
    return step, slope, offset


def save(step: int, slope: float, offset: float) -> None:
    """A checkpoint is there whole or not at all."""
    new = CHECKPOINT.with_suffix(".new")
    new.write_text(json.dumps([step, slope, offset]))
    new.replace(CHECKPOINT)


if __name__ == "__main__":
    main()
