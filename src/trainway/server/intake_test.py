"""Requests that could do harm, against the whole application with a backend in memory."""

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.engine.testing import jobset
from trainway.jobset import labels
from trainway.json_types import Json
from trainway.server import json_body
from trainway.server.json_body import MOST_VALUES, MalformedError, strict_json
from trainway.server.testing_site import Site, play


def body(text: str, **replaced: str) -> bytes:
    """A submission in which words were replaced by pieces of JSON."""
    for name, piece in replaced.items():
        text = text.replace(f'"{name}"', piece)
    return text.encode("utf-8", "surrogatepass")


def submission(options: Json | None = None, **more: Any) -> str:
    return json.dumps({"objects": [jobset("demo", **more)], "options": options or {}})


DEEP = "[" * 100_000 + "]" * 100_000
LEVELS = '{"a":' * 250 + "1" + "}" * 250
DIGITS = "1" * 5_000


@dataclass(frozen=True)
class Case:
    name: str
    body: bytes
    field: str | None
    said: str


LABELLED = submission({"labels": {"a": "X"}})
LABELS = submission(metadata={"labels": {"a": "X"}})
PRIORITY = submission({"priority": "X"})
PATIENCE = submission(job={"backoffLimit": "X"})
COMMAND = submission(command="X")
HALF, NUL = "half of a surrogate pair", "U+0000"
FINITE = "a finite number of 64 bits"
POD = "objects[0].spec.replicatedJobs[0].template.spec"
WORDS = f"{POD}.template.spec.containers[0].command[2]"


@pytest.mark.parametrize(
    "case",
    [
        Case("surrogate", body(LABELLED, X=r'"\ud800"'), "options.labels.a", HALF),
        Case("pair turned round", body(LABELLED, X=r'"\udc00\ud800"'), "options.labels.a", HALF),
        Case("in a label", body(LABELS, X=r'"\ud800"'), "objects[0].metadata.labels.a", HALF),
        Case("in a command", body(COMMAND, X=r'"\udfff"'), WORDS, HALF),
        Case("name of a field", body(LABELLED, a=r'"\ud800"'), r"options.labels.\ud800", HALF),
        Case("not UTF-8", body(LABELLED, X='"\ud800"'), None, "not UTF-8"),
        Case("NUL", body(LABELLED, X=r'"\u0000"'), "options.labels.a", NUL),
        Case("NUL in a command", body(COMMAND, X=r'"a\u0000"'), WORDS, NUL),
        Case("NaN", body(PRIORITY, X="NaN"), "options.priority", FINITE),
        Case("Infinity", body(PATIENCE, X="-Infinity"), f"{POD}.backoffLimit", FINITE),
        Case("1e400", body(PATIENCE, X="1e400"), f"{POD}.backoffLimit", FINITE),
        Case("digits", body(PATIENCE, X=DIGITS), f"{POD}.backoffLimit", FINITE),
        Case("65 bits", body(PATIENCE, X=str(2**64)), f"{POD}.backoffLimit", FINITE),
        Case("deep", body(LABELS, X=DEEP), None, "nested more than 200 levels"),
        Case("rather deep", body(LABELS, X=LEVELS), ".a" * 3, "nested more than 200 levels"),
    ],
    ids=lambda case: case.name,
)
def test_what_cannot_be_stored_is_refused_with_its_place(case: Case) -> None:
    with pytest.raises(MalformedError) as caught:
        strict_json(case.body)
    assert case.said in caught.value.message
    if case.field is not None:
        assert case.field in str(caught.value.field)


@pytest.mark.parametrize("value", ["{}", "[]", "1", '""', '{"a":1}'])
def test_more_values_than_a_server_should_hold_are_refused_before_they_are_made(value: str) -> None:
    text = f"[{','.join([value] * (MOST_VALUES + 1))}]"
    with pytest.raises(MalformedError, match="more than 1,100,000 values"):
        strict_json(text.encode())


def test_what_is_within_strings_does_not_count_as_values() -> None:
    table = 'a,b,{"c,[d"\\\n' * MOST_VALUES
    assert strict_json(json.dumps({"data": table}).encode()) == {"data": table}


def test_a_string_that_never_ends_is_looked_through_once() -> None:
    endless = b'["' + b'\\"' * 1_000_000 + b"," * MOST_VALUES
    with pytest.raises(json.JSONDecodeError):
        strict_json(endless + b"\\")


@pytest.mark.parametrize(("values", "is_beside"), [(10, False), (100_000, True)])
def test_a_long_body_is_read_in_a_thread_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: int, is_beside: bool
) -> None:
    readers: list[threading.Thread] = []

    def noted(text: bytes) -> Any:
        readers.append(threading.current_thread())
        return strict_json(text)

    async def scene(site: Site) -> None:
        text = json.dumps({"objects": [{}] * values}).encode()
        assert (await site.ask("POST", "/jobs", text))[0] == 422
        assert [reader is not threading.current_thread() for reader in readers] == [is_beside]

    monkeypatch.setattr(json_body, "strict_json", noted)
    play(tmp_path, scene)


def test_every_route_reads_strictly(tmp_path: Path) -> None:
    half, endless = rb'{"%s": "\ud800"}', rb'{"%s": 1e999}'

    async def scene(site: Site) -> None:
        await site.world.submit()
        report = b'{"trainerStatus": {"metrics": [{"name": "\\ud800", "value": "1"}]}}'
        for path, text, field in (
            ("/jobs", body(LABELLED, X=r'"\ud800"'), "options.labels.a"),
            ("/plans", body(LABELLED, X="NaN"), "options.labels.a"),
            ("/jobs/demo/progress", report, "trainerStatus.metrics[0].name"),
            ("/clusters", half % b"name", "name"),
            ("/clusters", endless % b"nodes", "nodes"),
            ("/files/missing", half % b"files", "files"),
            ("/jobs", b"{", None),
            ("/jobs", b"\xff", None),
        ):
            status, answer = await site.ask("POST", path, text)
            assert (status, answer["error"]["code"]) == (422, "usage"), (path, answer)
            assert field is None or answer["error"]["field"] == field
        assert len((await site.ask("GET", "/jobs"))[1]["items"]) == 1
        for path in ("/jobs/a%00b", "/jobs?name=%00", "/clusters/%00"):
            assert (await site.ask("GET", path))[0] in (404, 422)

    play(tmp_path, scene)


def test_what_looks_odd_and_is_text_stays_as_it_is(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        odd = "\U0001f600 \u2028 \x01 ä"
        text = submission(metadata={"annotations": {"a": odd}})
        assert (await site.ask("POST", "/jobs", text.encode()))[0] == 201
        job = (await site.ask("GET", "/jobs"))[1]["items"][0]
        assert job["spec"]["objects"][0]["metadata"]["annotations"] == {"a": odd}

    play(tmp_path, scene)


def test_files_may_have_any_character(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
        objects = [files | {"data": {"f": "\0"}}, jobset("demo")]
        assert (await site.ask("POST", "/jobs", json.dumps({"objects": objects}).encode()))[
            0
        ] == 201

    play(tmp_path, scene)


def test_odd_queries_of_logs(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        await site.world.submit()
        for query in (
            "since=99999999999d",
            "since=9999999999999999999999s",
            "since=0001-01-01T00:00:00%2B23:59",
            "since=" + "9" * 400,
            "since=%C2%B2h",
            "since=%00",
            "tail=99999999999999999999",
            "rank=" + "9" * 5000,
            "rank=-1",
            "role=%00",
        ):
            status, answer = await site.ask("GET", f"/jobs/demo/logs?{query}")
            assert status in (400, 422), query
            assert answer["error"]["field"] == query.partition("=")[0]

    play(tmp_path, scene)


def test_odd_workdirs(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        for workdir, said in (
            ("/" + "x" * 300, "File name too long"),
            ("/" + "x/" * 2_000, "No such file or directory"),
            ("/" + "x" * 5_000, "at most 4096"),
            ("x", "not an absolute path"),
            ("/dev/null", "is not a directory"),
            ("/dev/null/x", "Not a directory"),
        ):
            text = submission({"workdir": workdir})
            status, answer = await site.ask("POST", "/jobs", text.encode())
            assert status in (400, 422), workdir
            assert answer["error"]["field"] == "options.workdir"
            assert said in answer["error"]["message"]

    play(tmp_path, scene)


def test_rows_from_before_do_not_break_a_list(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        job_id = await site.world.submit()
        site.world.store.update(
            job_id, {"labels": {"a": "\ud800"}, "progress": {"loss": float("nan")}}, []
        )
        status, answer = await site.ask("GET", "/jobs")
        assert status == 200
        (job,) = answer["items"]
        assert job["metadata"]["labels"] == {"a": "\ufffd"}
        assert job["status"]["progress"] == {"loss": None}
        assert (await site.ask("GET", f"/jobs/{job_id}"))[0] == 200

    play(tmp_path, scene)


@pytest.mark.parametrize("text", ["[" * 5_000, '{"main":' * 5_000], ids=["lists", "maps"])
@pytest.mark.parametrize(
    "name",
    [labels.CANDIDATES, labels.PARAMETERS, labels.TASK_MOUNTS, labels.VOLUMES, labels.DATA_CACHE],
)
def test_an_annotation_that_is_nested_beyond_measure_means_nothing(
    name: str, text: str, tmp_path: Path
) -> None:
    async def scene(site: Site) -> None:
        asked = body(submission(metadata={"annotations": {name: text}}))
        assert (await site.ask("POST", "/jobs", asked))[0] == 201
        for path in ("/jobs/demo", "/jobs", "/jobs/demo/compiled", "/caches"):
            assert (await site.ask("GET", path))[0] == 200

    play(tmp_path, scene)
