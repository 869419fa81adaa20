"""XGBoost on several workers: each builds histograms of its own rows, all grow the same trees.

    trainway run --runtime xgboost-distributed --nodes 2 examples/xgboost_train.py

The first worker also runs the tracker at which all meet; the runtime says in DMLC_* where that is.
"""

import argparse
import os
import socket
from pathlib import Path

import numpy as np
import xgboost
from progress import report
from xgboost import collective
from xgboost.tracker import RabitTracker


def rows(task: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(task)
    inputs = random.normal(size=(1000, 4))
    return inputs, inputs.sum(axis=1) + 0.1 * random.normal(size=len(inputs))


class Progress(xgboost.callback.TrainingCallback):
    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def after_iteration(self, model, epoch: int, evals_log) -> bool:
        if collective.get_rank() == 0:
            loss = evals_log["train"]["rmse"][-1]
            print(f"round {epoch + 1}/{self.rounds} loss {loss:.4f}", flush=True)
            report(100 * (epoch + 1) / self.rounds, loss=loss)
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--output-dir", default=os.environ.get("TRAINWAY_OUTPUT_DIR", "output"))
    options = parser.parse_args()
    task, workers = int(os.environ["DMLC_TASK_ID"]), int(os.environ["DMLC_NUM_WORKER"])
    port = int(os.environ["DMLC_TRACKER_PORT"])

    if task == 0:
        tracker = RabitTracker(n_workers=workers, host_ip="0.0.0.0", port=port, sortby="task")
        tracker.start()
    address = socket.gethostbyname(os.environ["DMLC_TRACKER_URI"])
    settings = {"dmlc_tracker_uri": address, "dmlc_tracker_port": port, "dmlc_task_id": str(task)}
    with collective.CommunicatorContext(**settings):
        data = xgboost.DMatrix(*rows(task))
        model = xgboost.train(
            {"max_depth": 4, "nthread": 1},
            data,
            options.rounds,
            evals=[(data, "train")],
            verbose_eval=False,
            callbacks=[Progress(options.rounds)],
        )
        if collective.get_rank() == 0:
            checkpoint = Path(options.output_dir) / "model.ubj"
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            model.save_model(checkpoint)
            print(f"checkpoint {checkpoint} of {collective.get_world_size()} workers", flush=True)
    if task == 0:
        tracker.wait_for()


if __name__ == "__main__":
    main()
