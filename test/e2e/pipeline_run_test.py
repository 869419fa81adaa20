"""Pipelines for real: the installed command runs them on this machine, and goes on after a kill."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gate import Gate
from installation import Installation, installed, kill
from patience import until

from trainway.jobset.labels import TASK


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("pipelines")) as installation:
        yield installation


def phases(here: Installation, run: str) -> dict[str, str]:
    jobs: list[dict[str, Any]] = here.json("runs", "show", run)["jobs"]
    return {job["metadata"]["labels"][TASK]: job["status"]["phase"] for job in jobs}


def test_the_example_passes_outputs_on(here: Installation) -> None:
    printed = here.run("run", "examples/pipeline.yaml").splitlines()
    assert "prepare-0 | prepared 10 numbers" in printed
    assert "evaluate-0 | the sum of squares is 385" in printed
    assert {"report-0 | numbers", "report-0 | model"} <= set(printed)
    shown = here.run("runs", "show", "squares")
    assert "squares: 4 jobs: 4 succeeded" in shown
    assert "prepare, train" in shown


def test_a_failed_task_is_run_again_from_there(here: Installation, tmp_path: Path) -> None:
    flag, file = tmp_path / "repaired", tmp_path / "p.yaml"
    file.write_text(
        "name: broken\n---\n{name: one, run: date +%N}\n---\n"
        f"{{name: two, run: '[ -e {flag} ] && ls ${{tasks.one.output}}'}}\n---\n"
        "{name: three, run: echo done}\n"
    )
    here.run("run", str(file), code=4)
    assert phases(here, "broken") == {"one": "Succeeded", "two": "Failed", "three": "Cancelled"}
    assert "two failed, so it was not started" in here.run("runs", "show", "broken")
    first = here.json("runs", "show", "broken")["jobs"][0]["metadata"]["id"]
    here.run("runs", "rerun", "broken", "--from", "three", code=1)
    flag.touch()
    made = here.run("runs", "rerun", "broken", "--from", "two").split()[::2]
    assert made == ["broken-two", "broken-three"]
    until(
        lambda: set(phases(here, "broken").values()) == {"Succeeded"}, "the pipeline does not end"
    )
    run = here.json("runs", "show", "broken")
    assert run["jobs"][0]["metadata"]["id"] == first
    assert run["status"]["phase"] == "Succeeded"


def test_a_killed_server_goes_on_with_the_next_task(
    here: Installation, gate: Gate, tmp_path: Path
) -> None:
    file = tmp_path / "p.yaml"
    tasks = [
        f"name: {name}\nrun: |\n  {shlex.join(gate.command(name))}\n" for name in ("a", "b", "c")
    ]
    file.write_text("\n---\n".join(["name: killed", *tasks]))
    here.run("run", "-d", str(file))
    first = gate.next()
    kill(here.server_pid())
    first.let_go()  # nobody sees it end
    assert phases(here, "killed")["c"] == "Queued"
    second = gate.next()
    assert gate.nobody_waits()
    kill(here.server_pid())
    second.let_go(code=3)
    until(lambda: phases(here, "killed")["c"] == "Cancelled", "the last task does not end")
    assert phases(here, "killed") == {"a": "Succeeded", "b": "Failed", "c": "Cancelled"}
    assert gate.nobody_waits()


def group(gate: Gate, name: str, delay: str) -> str:
    """A group whose primary task ends at once, and whose other one waits at the gate."""
    visit = shlex.join(gate.command("helper"))
    return (
        f"name: {name}\nexecution: parallel\nprimary_tasks: [main]\ntermination_delay: {delay}\n"
        f"---\nname: main\nnum_nodes: 2\nresources: {{cpus: 0.1}}\n"
        f"run: echo $TRAINWAY_ADDRESSES_HELPER\n"
        f"---\nname: helper\nresources: {{cpus: 0.1}}\nrun: |\n  {visit}\n"
    )


def test_a_task_of_a_group_goes_on_for_its_delay(
    here: Installation, gate: Gate, tmp_path: Path
) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(group(gate, "patient", "10m"))
    job = here.submit(str(file))
    helper = gate.next()
    assert helper.env["TRAINWAY_ADDRESSES_MAIN"] == "127.0.0.1\n127.0.0.1"
    until(lambda: ended(here, job) == {"main-0", "main-1"}, "the primary task does not end")
    assert here.phase(job) == "Running"
    helper.let_go()
    until(lambda: here.phase(job) == "Succeeded", "the group does not end")


def test_a_task_of_a_group_is_ended_after_its_delay(
    here: Installation, gate: Gate, tmp_path: Path
) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(group(gate, "hasty", "1s"))
    printed = here.run("run", str(file))
    assert printed.count("127.0.0.1") == 2
    assert here.phase("hasty") == "Succeeded"


def ended(here: Installation, job: str) -> set[str]:
    """The nodes of a job that have succeeded."""
    nodes = here.job(job)["status"]["nodes"]
    return {f"{node['role']}-{node['rank']}" for node in nodes if node["phase"] == "Succeeded"}
