import base64
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from trainway.api import kinds
from trainway.errors import TrainwayError, UsageError
from trainway.json_types import Json
from trainway.sdk.fetched_names import names_in
from trainway.sdk.finetuning import (
    FineTune,
    command_of,
    finetune_objects,
    packed_program,
    words_of,
)
from trainway.sdk.llm_boot import __file__ as boot
from trainway.sdk.manifests import Wishes


def _job(asked: FineTune, wishes: Wishes | None = None) -> Json:
    objects = finetune_objects(asked, wishes or Wishes())
    (job,) = (item for item in objects if item["kind"] == "TrainJob")
    report = kinds.check(job)
    assert [str(error) for error in report.errors] == []
    return job


def test_folders_are_read_where_they_are(tmp_path: Path) -> None:
    job = _job(FineTune(str(tmp_path), str(tmp_path), settings={"method": "full"}), Wishes(nodes=2))
    assert job["metadata"]["labels"] == {"trainway.dev/finetune": "sft"}
    assert job["spec"]["runtimeRef"]["name"] == "trl-sft"
    assert job["spec"]["trainer"]["numNodes"] == 2
    words = ["method=full", f"model={tmp_path}", f"dataset={tmp_path}"]
    assert job["spec"]["trainer"]["args"] == words
    assert job["spec"]["trainer"]["command"][-3:] == ["-m", "trainway.llm.launcher", "sft"]
    assert "initializer" not in job["spec"]
    assert "annotations" not in job["metadata"]


def test_what_is_elsewhere_is_fetched_first(tmp_path: Path) -> None:
    asked = FineTune("Qwen/Qwen2.5-7B", "s3://bucket/data", "dpo", output="s3://bucket/tuned")
    job = _job(asked)
    assert job["metadata"]["name"] == "finetune-qwen2-5-7b"
    assert job["spec"]["runtimeRef"]["name"] == "trl-dpo"
    assert job["spec"]["initializer"] == {
        "model": {"storageUri": "hf://Qwen/Qwen2.5-7B"},
        "dataset": {"storageUri": "s3://bucket/data"},
    }
    assert job["spec"]["trainer"]["args"] == [
        "model=/workspace/model",
        "dataset=/workspace/dataset",
    ]
    assert job["metadata"]["annotations"] == {"trainway.dev/export": "s3://bucket/tuned"}


@pytest.mark.parametrize(
    ("dataset", "place", "patterns"),
    [
        ("hf://datasets/org/data/part/", "part", "part,part/*"),
        ("hf://org/data@v1/a/b.jsonl", "a/b.jsonl", "a/b.jsonl,a/b.jsonl/*"),
        ("hf://datasets/org/data/a[1]", "a[1]", "a[[]1],a[[]1]/*"),
        ("HF://datasets/org/data/a,b", "a,b", None),
    ],
)
def test_of_a_part_of_a_repository_nothing_else_is_fetched_and_read(
    dataset: str, place: str, patterns: str | None
) -> None:
    job = _job(FineTune("hf://org/model/small", dataset))
    assert job["spec"]["trainer"]["args"] == [
        "model=/workspace/model/small",
        f"dataset=/workspace/dataset/{place}",
    ]
    sources = job["spec"]["initializer"]
    assert sources["model"]["env"] == [{"name": "INCLUDE_PATTERNS", "value": "small,small/*"}]
    env = [{"name": "INCLUDE_PATTERNS", "value": patterns}] if patterns else []
    assert sources["dataset"] == {"storageUri": dataset, **({"env": env} if env else {})}


def test_a_folder_for_the_result_is_a_setting(tmp_path: Path) -> None:
    job = _job(FineTune("org/model", str(tmp_path), output="tuned"))
    assert f"output={Path.cwd() / 'tuned'}" in job["spec"]["trainer"]["args"]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("/nowhere", "model: there is no folder or file '/nowhere'"),
        ("nowhere", "model: there is no folder or file 'nowhere'"),
        ("ftp://a/b", "ftp"),
        ("~no-such-user/model", "~no-such-user is no user of this machine"),
        ("x" * 300, "model: x{60} cannot be read: File name too long"),
    ],
)
def test_a_model_that_is_nowhere_is_refused(model: str, said: str) -> None:
    with pytest.raises(TrainwayError, match=said):
        finetune_objects(FineTune(model, "org/data"), Wishes())


def test_a_folder_of_another_machine_is_left_to_it() -> None:
    job = _job(FineTune("/there/model", "/there/data"), Wishes(on="ssh/pool"))
    assert job["spec"]["trainer"]["args"] == ["model=/there/model", "dataset=/there/data"]


def test_settings_are_words() -> None:
    given = {"packing": False, "epochs": 2.0, "lora_targets": ["q", "v"], "columns": {"a": "b"}}
    words = ["packing=false", "epochs=2.0", "lora_targets=q,v", "columns.a=b"]
    assert words_of({**given, "micro_batch": None}) == [*words, "micro_batch=null"]
    with pytest.raises(UsageError, match="task: it is 'ppo'"):
        command_of("ppo", {})


def test_the_program_that_travels_needs_nothing_but_python(tmp_path: Path) -> None:
    """It says what is missing, which it can only if all that it imports came along."""
    packed = zipfile.ZipFile(io.BytesIO(base64.b64decode(packed_program())))
    assert not [name for name in packed.namelist() if name.endswith("_test.py")]
    assert packed_program() == packed_program()
    assert len(packed_program()) < 100_000
    bare = [sys.executable, "-S"]
    words = ["-m", "trainway.llm.launcher", "sft", "model=/m", "dataset=/d"]
    boot_text = Path(boot).read_text("utf-8")
    done = subprocess.run(
        [*bare, "-c", boot_text, packed_program(), *bare, *words],
        env={"TRAINWAY_WORK_DIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.startswith("error: torch, transformers, accelerate, trl, peft, datasets can")
    assert done.returncode == 1
    assert json.dumps(done.stdout) == '""'


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ("org/base", "org/base"),
        ("hf://org/base@v1/small", "org/base"),
        ("hf://models/org/base", "org/base"),
        ("s3://bucket/base/", "s3://bucket/base/"),
        ("https://host/base.zip?signature=secret", "https://host/base.zip"),
    ],
)
def test_the_job_knows_what_is_fetched_by_its_name(named: str, name: str, tmp_path: Path) -> None:
    asked = FineTune(named, str(tmp_path))
    job = _job(asked, Wishes(env={"A": "b"}))
    variables = {each["name"]: each["value"] for each in job["spec"]["trainer"]["env"]}
    assert variables == {"A": "b", "TRAINWAY_MODEL_NAME": name}
    assert names_in(variables) == {"model": name}
