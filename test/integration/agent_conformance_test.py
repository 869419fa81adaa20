"""What JobSets came to on a real Kubernetes, and what the agent makes of them."""

import importlib.util
import json
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from trainway.agent.local.testing import PATIENCE, AgentJob
from trainway.compiler.compile import Input, Options, compile_objects

CONFORMANCE = Path(__file__).parents[3] / "shared" / "conformance"
CASES = sorted((CONFORMANCE / "jobset").glob("*.json"))
HERE = Path(__file__)
AT_ONCE = 4

pytestmark = [
    pytest.mark.xdist_group("recorded"),
    pytest.mark.skipif(not CASES, reason=f"there are no recordings in {CONFORMANCE}"),
]


def load_comparison() -> Callable[[Any, Any, Path], list[str]]:
    spec = importlib.util.spec_from_file_location("jobset", CONFORMANCE / "compare_jobset.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    differences: Callable[[Any, Any, Path], list[str]] = module.differences
    return differences


def outcome_of(path: Path, folder: Path) -> list[str]:
    """What is not as recorded when the agent runs a case."""
    out = folder / "out"
    out.mkdir()
    (out / "marks").touch()
    case = json.loads(path.read_text())
    text = json.dumps(case["inputs"]).replace("@OUT@", str(out)).replace("@IMAGE@", "none")
    inputs = json.loads(text)
    outcome = compile_objects([Input(item, path.name) for item in inputs], Options())
    assert not outcome.errors
    objects = [item for item in inputs if item["kind"] in ("ConfigMap", "Secret")]
    jobset = next(item for item in outcome.objects if item["kind"] == "JobSet")
    job = AgentJob(folder / "job", jobset, objects=objects)
    try:
        job.start()
        sample = case.get("sampleAfterSeconds")
        records = list(job.watch(patience=sample or PATIENCE))
        assert sample or records[-1]["type"] == "end"
        status = [record["jobset"] for record in records if record["type"] == "status"][-1]
        differences = load_comparison()(case["expect"], status, out)
        assert sample or job.processes() == []
        return differences
    finally:
        job.stop()


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Path, Future[list[str]]]]:
    """Those of all cases that were chosen; they mostly wait, so several run at once."""
    calls = [vars(item).get("callspec") for item in request.session.items if item.path == HERE]
    chosen = {call.params["case"] for call in calls if call is not None}
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield {
            path: threads.submit(outcome_of, path, tmp_path_factory.mktemp(path.stem))
            for path in sorted(chosen)
        }


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_same_as_on_kubernetes(case: Path, outcomes: dict[Path, Future[list[str]]]) -> None:
    assert outcomes[case].result() == []
