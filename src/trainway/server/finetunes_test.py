"""Fine-tunes, over HTTP."""

import json
from pathlib import Path
from typing import Any

from trainway.engine.testing import jobset
from trainway.jobset.labels import FINETUNE
from trainway.json_types import Json
from trainway.server.finetunes import finetune_view
from trainway.server.testing_site import Site, play


def test_only_fine_tunes_are_listed_newest_first(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for name, labels in (("a", {FINETUNE: "sft"}), ("b", {}), ("c", {FINETUNE: "dpo"})):
            body: Json = {"objects": [jobset(name)], "options": {"labels": labels}}
            assert (await site.ask("POST", "/jobs", json.dumps(body).encode()))[0] == 201
        _, first = await site.ask("GET", "/finetunes?limit=1")
        assert [(each["name"], each["task"]) for each in first["items"]] == [("c", "dpo")]
        _, rest = await site.ask("GET", f"/finetunes?limit=1&cursor={first['cursor']}")
        assert [(each["name"], each["method"]) for each in rest["items"]] == [("a", "lora")]
        assert rest["cursor"] is None
        assert (await site.ask("GET", "/finetunes?limit=0"))[0] in (400, 422)

    play(tmp_path, scene)


def job(spec: Any, **status: Any) -> Json:
    usual = dict.fromkeys(("message", "startTime", "completionTime", "progress"))
    return {
        "metadata": {"id": "1", "name": "n", "creationTimestamp": "t", "labels": {FINETUNE: "sft"}},
        "spec": {"backend": "local", "objects": [{"kind": "TrainJob", "spec": spec}]},
        "status": {"phase": "Running", **usual, **status},
    }


def test_what_a_fine_tune_was_asked_to_do() -> None:
    args = ["model=/workspace/model", "dataset=/d=1", "method=full", "columns.prompt=q", "loose"]
    sources = {"model": {"storageUri": "hf://org/m"}}
    found = finetune_view(job({"trainer": {"args": args}, "initializer": sources}))
    assert (found["model"], found["dataset"], found["method"]) == ("hf://org/m", "/d=1", "full")
    assert (found["output"], found["exportState"]) == ("", None)
    exported = {"uri": "s3://b/x", "state": "Failed", "message": "no bucket"}
    found = finetune_view(job({}, export=exported, outputDir="/o"))
    assert (found["output"], found["exportState"]) == ("s3://b/x", "Failed")
    assert finetune_view(job(None, outputDir="/o"))["output"] == "/o"
    assert finetune_view(job({}, failure={"summary": "no TRL"}))["message"] == "no TRL"
