"""The runs of benchmarks/llm.py, one after the other, and how they compare."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.llm_cases import CASES, TINY_CASES, Case, flops_of

ROOT: Final = Path(__file__).resolve().parents[1]
LEAST: Final = 0.98
PEAK_FLOPS: Final = 989e12
"""What an H200 can do in bf16 without sparsity, by its datasheet."""
GIB: Final = 1 << 30
WAYS: Final = ("ours", "same", "default")
BESIDE: Final = ("ours", "same", "same", "ours")
"""Small models wait for the processor, whose speed changes: each runs twice, the best counts."""
ONCE: Final = BESIDE[:2]


def main(description: str) -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tiny", action="store_true", help="tiny models, also on a CPU")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels to use, not to install")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", "build")))
    parser.add_argument("--budget", type=float, default=530, help="seconds for everything")
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    parser.add_argument("--once", action="store_true", help="each way once, not twice")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting for ours"
    )
    options = parser.parse_args()
    settings = tuple(options.set)
    cases = [replace(case, settings=settings) for case in (TINY_CASES if options.tiny else CASES)]
    return compared([case for case in cases if options.only in case.name], options)


def compared(cases: list[Case], options: argparse.Namespace) -> int:
    """Run everything that there is time for, and print it as it comes."""
    started = time.monotonic()
    results: dict[str, dict[str, Any]] = {case.name: {} for case in cases}
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        environment = prepared(Path(scratch), cases, options.wheels)
        print(f"prepared in {time.monotonic() - started:.0f} s", flush=True)
        print(f"{'case':<12}{'way':<9}{'tokens/s':>10}{'of peak':>9}{'GiB':>7}{'s':>6}", flush=True)
        order = [(case, way) for case in cases for way in (ONCE if options.once else BESIDE)]
        for case, way in [*order, *((case, WAYS[2]) for case in cases)]:
            left = options.budget - (time.monotonic() - started)
            found = {"error": "left out: no time"}
            if left > 30:
                found = run(case, way, Path(scratch), environment, left)
            results[case.name][way] = better(results[case.name].get(way), found)
            print(row(case, way, found), flush=True)
            said = {"cases": [asdict(each) for each in cases], "results": results}
            (options.out / "llm.json").write_text(json.dumps(said, indent=2))
    return judged(results) if not options.tiny else all_ran(results)


def better(known: dict[str, Any] | None, found: dict[str, Any]) -> dict[str, Any]:
    """The faster of two runs of the same."""
    if known is None or known.get("tokens_per_s", 0) < found.get("tokens_per_s", 0):
        return found
    return known


def judged(results: dict[str, dict[str, Any]]) -> int:
    """Print how the ways compare; 1 if ours is too slow."""
    is_fine = True
    for name, found in results.items():
        speeds = {way: found.get(way, {}).get("tokens_per_s") for way in WAYS}
        if speeds["ours"] and speeds["same"]:
            ratio = speeds["ours"] / speeds["same"]
            is_fine &= ratio >= LEAST
            words = f"{name}: ours is {ratio:.3f} of TRL with the same settings (at least {LEAST})"
            if speeds["default"]:
                words += f", and {speeds['ours'] / speeds['default']:.2f} of TRL's defaults"
            print(words)
        else:
            is_fine = False
            print(f"{name}: no comparison")
    return 0 if is_fine else 1


def all_ran(results: dict[str, dict[str, Any]]) -> int:
    """Tiny models say nothing about speed; 1 if something did not run."""
    return int(any("error" in found for ways in results.values() for found in ways.values()))


def row(case: Case, way: str, found: dict[str, Any]) -> str:
    """A line of the table."""
    head = f"{case.name:<12}{way:<9}"
    if "error" in found:
        return head + str(found["error"])
    numbers = (found["tokens_per_s"], found["of_peak"], found["memory"] / GIB, found["seconds"])
    return head + "{:>10.0f}{:>9.3f}{:>7.1f}{:>6.0f}".format(*numbers)


def prepared(scratch: Path, cases: list[Case], wheels: Path | None) -> dict[str, str]:
    """Models, data, and the environment that the runs have."""
    path = [str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    if wheels:
        for wheel in sorted(wheels.glob("*.whl")):
            with zipfile.ZipFile(wheel) as opened:
                opened.extractall(scratch / "wheels")
        path.insert(1, str(scratch / "wheels"))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(scratch / "hub"),
        "TOKENIZERS_PARALLELISM": "false",
    }
    wanted = {case.model: case for case in cases}
    for model, case in wanted.items():
        order = {"way": "prepare", "model": model, "length": case.length, "batch": case.batch,
                 "steps": max(each.steps for each in cases), "scratch": str(scratch)}  # fmt: skip
        subprocess.run([*_command(), json.dumps(order)], env=environment, check=True)
    return environment


def _command() -> list[str]:
    return [sys.executable, "-m", "benchmarks.llm_load"]


def run(
    case: Case, way: str, scratch: Path, environment: dict[str, str], limit: float
) -> dict[str, Any]:
    """One process; its last line has what it measured."""
    started = time.monotonic()
    order = {"way": way, "scratch": str(scratch), **asdict(case)}
    try:
        done = subprocess.run(
            [*_command(), json.dumps(order)],
            env=environment, capture_output=True, text=True, timeout=limit, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": "it took too long"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("measured ")]
    if not lines:
        said = (done.stderr + done.stdout).strip().splitlines()
        known = [line for line in said if "Error" in line or line.startswith("error")]
        return {"error": (known or said or ["nothing was said"])[-1][:200], "log": said[-30:]}
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("measured "))
    tokens = case.batch * case.length
    found["tokens_per_s"] = tokens / found["step_s"]
    found["of_peak"] = found["tokens_per_s"] * flops_of(case) / PEAK_FLOPS
    found["seconds"] = time.monotonic() - started
    return found
