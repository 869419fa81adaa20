"""Searches as every backend has them: from the command line, with pruning, and from a file.

Its columns are hosts and Slurm in `search_backends_test.py`, and pods in
`test/kubernetes/node/search_in_pods_test.py`.
"""

from pathlib import Path
from typing import Final

from installation import TIMEOUT_S, Installation

TRAINING: Final = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the first process of a pod ignores it
rate = float(sys.argv[sys.argv.index("--lr") + 1])
if rate > 8:
    print("step: 2, loss: 4.5", flush=True)
    time.sleep(3600)  # a test that waits for this trial to end by itself does not pass
for step in (1, 2, 3, 4):
    print(f"step: {step}, loss: {rate / 100 if step == 4 else 1 / step}")
"""
RATES: Final = ("1", "2", "3", "4", "9")

OPTIMIZATION_JOB: Final = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: OptimizationJob
metadata: {name: fits}
spec:
  objectives: [{metric: loss}]
  searchAlgorithm: {grid: {}}
  parameters:
  - {name: lr, searchSpace: {categorical: {choices: ["0.001", "0.3"]}}}
  numTrials: 2
  parallelTrials: 2
  trainJobTemplate:
    spec:
      runtimeRef: {name: torch-distributed}
      trainer:
        command: [python3, examples/regression.py]
        args: [--steps, "40", --lr, $(KUBEFLOW_TRAINER_OPT_LR)]
"""


def assert_two_searches_run(home: Installation, on: str, folder: Path) -> None:
    """`trainway tune` with metrics from logs, and beside it `trainway run optimization.yaml`.

    Of the first one four trials end, and the fifth is stopped. Trials of the second one report to
    the endpoint of their job.
    """
    script, file = folder / "train.py", folder / "optimization.yaml"
    script.write_text(TRAINING)
    file.write_text(OPTIMIZATION_JOB)
    searched = ("--param", f"lr={','.join(RATES)}", "--algorithm", "grid", "--prune", "median")
    asked = ("--name", "rates", "--objective", "loss", "--parallel", "4", "--metrics-from-logs")
    tuning = home.start("tune", str(script), "--on", on, *asked, *searched)
    home.run("run", str(file), "--on", on)
    said, _ = tuning.communicate(timeout=TIMEOUT_S)

    assert tuning.returncode == 0, said
    assert said.splitlines()[-1] == "best: rates-0 with loss 0.01: lr=1"
    assert_the_worst_was_stopped(home)
    run = home.json("runs", "show", "fits")
    assert run["status"]["search"]["reason"] == "MaxTrialsReached"
    best = run["search"]["best"]
    assert (best["name"], best["parameters"]) == ("fits-1", {"lr": "0.3"})
    assert best["value"] < 0.1


def assert_the_worst_was_stopped(home: Installation) -> None:
    """The search of the script, when it has ended."""
    run = home.json("runs", "show", "rates")
    assert run["status"]["search"]["message"] == (
        "5 trials: 4 succeeded, 1 pruned; rates-0 is the best, with loss 0.01"
    )
    assert [job["spec"]["parameters"]["lr"] for job in run["jobs"]] == list(RATES)
    stopped = home.job("rates-4")["status"]
    assert (stopped["phase"], stopped["reason"]) == ("Cancelled", "Pruned")
    assert stopped["message"] == (
        "loss was 4.5 at best until step 2, and the median of 4 other trials was 0.5"
    )
