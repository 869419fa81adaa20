"""What JobSets came to on a real Kubernetes, and what the agent makes of them."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.local.testing import AgentJob
from trainway.compiler.compile import Input, Options, compile_objects

CONFORMANCE = Path(__file__).parents[3] / "shared" / "conformance"
CASES = sorted((CONFORMANCE / "jobset").glob("*.json"))

pytestmark = pytest.mark.skipif(not CASES, reason=f"there are no recordings in {CONFORMANCE}")


def load_comparison() -> Callable[[Any, Any, Path], list[str]]:
    spec = importlib.util.spec_from_file_location("jobset", CONFORMANCE / "compare_jobset.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    differences: Callable[[Any, Any, Path], list[str]] = module.differences
    return differences


@pytest.fixture
def out(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    out.mkdir()
    (out / "marks").touch()
    return out


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[AgentJob]]:
    jobs: list[AgentJob] = []
    yield jobs
    for job in jobs:
        job.stop()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_same_as_on_kubernetes(
    path: Path, tmp_path: Path, out: Path, started: list[AgentJob]
) -> None:
    case = json.loads(path.read_text())
    text = json.dumps(case["inputs"]).replace("@OUT@", str(out)).replace("@IMAGE@", "none")
    inputs = json.loads(text)
    outcome = compile_objects([Input(item, path.name) for item in inputs], Options())
    assert not outcome.errors
    objects = [item for item in inputs if item["kind"] in ("ConfigMap", "Secret")]
    jobset = next(item for item in outcome.objects if item["kind"] == "JobSet")
    job = AgentJob(tmp_path / "job", jobset, objects=objects)
    started.append(job)
    job.start()
    sample = case.get("sampleAfterSeconds")
    records = list(job.watch(patience=sample or 90))
    assert sample or records[-1]["type"] == "end"
    status = [record["jobset"] for record in records if record["type"] == "status"][-1]
    assert load_comparison()(case["expect"], status, out) == []
    assert sample or job.processes() == []
