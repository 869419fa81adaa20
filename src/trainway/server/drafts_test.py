"""Drafts: forms and texts are checked, compiled and submitted again, and nothing is stored."""

import json
from pathlib import Path
from typing import Any

from trainway.api.mpijob_wishes import MPIJobWishes, mpijob_of
from trainway.api.pod_wishes import ResourceRequirements
from trainway.engine.testing import jobset
from trainway.json_types import Json
from trainway.server.testing_site import Site, play

_TASK = {"name": "hello", "run": "echo hello", "num_nodes": 2}


async def _ask(site: Site, path: str, body: Json) -> Any:
    status, answer = await site.ask("POST", path, json.dumps(body).encode())
    assert status in (200, 201), answer
    return answer


async def _check(site: Site, document: Json | str, **more: str) -> Any:
    text = document if isinstance(document, str) else json.dumps(document)
    return await _ask(site, "/drafts/check", {"text": text, **more})


def test_a_form_becomes_a_text_that_compiles(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        form = {"kind": "TrainJob", "name": "a", "command": "python train.py", "nodes": 2}
        made = await _ask(site, "/drafts", form)
        found = await _check(site, made["document"])
        assert found["errors"] == []
        assert found["objects"] == [made["document"]]
        assert [obj["kind"] for obj in found["compiled"]] == ["JobSet"]
        shown = {key: found["form"][key] for key in form}
        assert shown == form
        assert (await site.ask("GET", "/jobs"))[1]["items"] == []

    play(tmp_path, scene)


def test_the_form_of_an_mpijob_is_submitted_as_the_command_line_would(tmp_path: Path) -> None:
    wishes = MPIJobWishes(
        name="train",
        image="team/train:v1",
        command="python train.py --lr 0.1",
        workers=4,
        resources=ResourceRequirements(cpu="500m", memory="1Gi"),
        env={"EPOCHS": "3"},
    )
    form = {
        "kind": "MPIJob",
        "name": "train",
        "image": "team/train:v1",
        "command": "python train.py --lr 0.1",
        "nodes": 4,
        "cpu": "500m",
        "memory": "1Gi",
        "env": {"EPOCHS": "3"},
    }

    async def scene(site: Site) -> None:
        made = await _ask(site, "/drafts", form)
        assert made["document"] == mpijob_of(wishes)
        found = await _check(site, made["document"])
        assert (found["errors"], found["objects"]) == ([], [mpijob_of(wishes)])
        sent = {"objects": found["objects"], "options": {"labels": found["labels"]}}
        job = (await _ask(site, "/jobs", sent))["job"]
        kept = await site.world.engine.reading.objects(job["metadata"]["id"])
        assert [obj["spec"] for obj in kept] == [mpijob_of(wishes)["spec"]]

    play(tmp_path, scene)


def test_an_error_names_the_field_of_the_form_and_the_line(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        made = await _ask(site, "/drafts", {"kind": "TrainJob", "name": "A!", "memory": "lots"})
        found = await _check(site, json.dumps(made["document"], indent=1))
        assert {item["input"] for item in found["errors"]} >= {"name", "memory"}
        assert all(item["line"] > 1 for item in found["errors"] if item["input"])
        assert found["compiled"] == []

    play(tmp_path, scene)


def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        found = await _check(site, "kind: TrainJob\nmetadata: [\n")
        assert found["errors"][0]["line"] == 3
        found = await _check(site, {"kind": "ConfigMap", "apiVersion": "v1"})
        assert "there is no job among the objects" in found["errors"][0]["message"]
        found = await _check(site, _TASK, backend="nowhere")
        assert found["errors"][0]["input"] == "backend"

    play(tmp_path, scene)


def test_a_draft_is_bounded(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        body = json.dumps({"text": "a" * 600_000}).encode()
        status, answer = await site.ask("POST", "/drafts/check", body)
        assert (status, answer["error"]["field"]) == (422, "text")
        body = json.dumps({"kind": "Pod"}).encode()
        assert (await site.ask("POST", "/drafts", body))[0] == 422

    play(tmp_path, scene)


def test_a_job_is_changed_and_submitted_again_with_its_secrets(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
        objects = [{**secret, "stringData": {"k": "hidden"}}, jobset("demo")]
        await _ask(site, "/jobs", {"objects": objects, "options": {"priority": 7}})
        _, start = await site.ask("GET", "/drafts/from/demo")
        assert (start["others"], start["backend"]) == (["Secret/s"], "local")
        (job,) = start["documents"]
        job["metadata"]["labels"] = {"changed": "yes"}
        found = await _check(site, job, rerun="demo")
        assert found["errors"] == []
        (again,) = found["objects"]
        new = await _ask(site, "/jobs/demo/rerun", {"job": again})
        assert (new["metadata"]["labels"], new["spec"]["priority"]) == ({"changed": "yes"}, 7)
        kept = await site.world.engine.reading.objects(new["metadata"]["id"])
        assert kept[0]["stringData"] == {"k": "hidden"}

    play(tmp_path, scene)


def test_a_task_that_is_changed_keeps_its_secrets_and_its_origin(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        found = await _check(site, {**_TASK, "secrets": {"TOKEN": "hidden"}})
        secret, task = found["objects"]
        task["origin"]["by"] = "somebody"
        await _ask(site, "/jobs", {"objects": [secret, task]})
        _, start = await site.ask("GET", "/drafts/from/hello")
        (document,) = start["documents"]
        assert start["form"]["command"] == "echo hello"
        found = await _check(site, {**document, "run": "echo bye"}, rerun="hello")
        assert found["errors"] == []
        new = await _ask(site, "/jobs/hello/rerun", {"job": found["objects"][-1]})
        kept = await site.world.engine.reading.objects(new["metadata"]["id"])
        assert kept[0]["stringData"] == {"TOKEN": "hidden"}
        (item,) = kept[1]["spec"]["tasks"]
        assert (item["task"]["run"], item["secrets"]) == ("echo bye", ["TOKEN"])
        assert kept[1]["origin"]["by"] == "somebody"
        found = await _check(site, '{"run": "a"}\n---\n{"run": "b"}', rerun="hello")
        assert "it had 1 task, and now it has 2" in found["errors"][0]["message"]

    play(tmp_path, scene)


def test_only_the_job_is_written_anew(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        await _ask(site, "/jobs", {"objects": [jobset("demo")]})
        two = json.dumps({"kind": "List", "items": [jobset("a"), jobset("b")]})
        found = await _check(site, two, rerun="demo")
        assert "leave one job here" in found["errors"][0]["message"]
        body = json.dumps({"job": jobset("demo"), "env": {"A": "b"}}).encode()
        assert (await site.ask("POST", "/jobs/demo/rerun", body))[0] == 400

    play(tmp_path, scene)


def test_a_pipeline_is_checked_as_the_jobs_that_it_becomes(tmp_path: Path) -> None:
    chain = (
        "name: p\n---\n{name: one, run: 'true'}\n---\n"
        "{name: two, run: 'ls ${tasks.one.output}', resources: {cpus: %s}}\n"
    )

    async def scene(site: Site) -> None:
        found = await _check(site, chain % 1)
        assert (found["errors"], found["warnings"]) == ([], [])
        assert [obj["metadata"]["name"] for obj in found["compiled"]] == ["p-one", "p-two"]
        options = {"labels": found["labels"], "pipeline": True}
        made = await _ask(site, "/jobs", {"objects": found["objects"], "options": options})
        assert len(made["jobs"]) == 2
        found = await _check(site, chain % 9999)
        assert found["errors"][0]["message"].startswith("p-two can never start")

    play(tmp_path, scene)
