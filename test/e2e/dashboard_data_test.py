"""The pages of data caches and of fine-tunes, with a real cache and a job that learns."""

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from browser import Dashboard
from playwright.sync_api import expect

from trainway.data.flight.client import CachedRows

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("dashboard")]

LEARNS = """
import time
for step in range(5):
    print(f"step={step} loss: {1 / (step + 1):.3f} num_tokens: {step * 500}", flush=True)
    time.sleep(0.05)
"""


def test_a_cache_is_shown_with_its_size_and_who_reads_it(
    shared_dashboard: Dashboard, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"id": list(range(1234))}), tmp_path / "t.parquet")
    trainway = shared_dashboard.trainway
    said = trainway.run("cache", "apply", "words", str(tmp_path), "--python", sys.executable)
    address = next(line for line in said.splitlines() if "cache://" in line).split("cache://")[1]
    try:
        page = shared_dashboard.window().open("/caches")
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="words"))
        expect(row).to_contain_text("Ready")
        expect(row).to_contain_text("1,234 rows")
        expect(row).to_contain_text(str(tmp_path))
        expect(row).to_contain_text(f'TableDataset("cache://{address}")')
        readers = row.get_by_role("cell").nth(4)
        expect(readers).to_have_text("0")
        assert CachedRows(f"grpc://{address}").count == 1234
        expect(readers).to_have_text("1")
    finally:
        trainway.run("cache", "delete", "-y", "words")


def test_a_fine_tune_is_shown_with_its_curve_and_its_result(
    shared_dashboard: Dashboard, tmp_path: Path
) -> None:
    trainway = shared_dashboard.trainway
    here = str(Path(__file__).parent)
    words = ("finetune", here, here, "method=full")
    trainway.run(*words, "--name", "refused", code=4)  # nothing that it needs is installed
    made = list(yaml.safe_load_all(trainway.run(*words, "--name", "learner", "--dry-run")))
    (job,) = (each for each in made if each["kind"] == "TrainJob")
    job["spec"]["trainer"]["command"] = ["python3", "-c", LEARNS]
    (tmp_path / "job.yaml").write_text(yaml.safe_dump_all(made))
    trainway.run("run", "--metrics-from-logs", str(tmp_path / "job.yaml"))
    page = shared_dashboard.window().open("/finetunes")
    learner, refused = (
        page.get_by_role("row").filter(has=page.get_by_role("link", name=name))
        for name in ("learner", "refused")
    )
    expect(learner.get_by_role("img", name="Loss of learner: 0.2")).to_be_visible()
    expect(learner).to_contain_text("tokens/s")
    expect(learner).to_contain_text("/output")
    expect(refused).to_contain_text("node-0 exited with")
    expect(refused).to_contain_text("sft with full")
    expect(refused).to_contain_text("e2e")
