import io
from typing import Any

import pytest
from rich.console import Console

from trainway.cli.live_view import JobState, LiveView
from trainway.cli.views import PlainView
from trainway.json_types import Json
from trainway.sdk.log_line import LogLine


def job(phase: str = "Running", **status: Any) -> Json:
    return {"metadata": {"name": "a", "id": "i"}, "status": {"phase": phase, **status}}


def node(rank: int, phase: str = "Running", **more: Any) -> Json:
    return {"role": "node", "job": 0, "rank": rank, "phase": phase, **more}


def drawn(state: JobState) -> list[str]:
    console = Console(width=100, file=io.StringIO())
    with console.capture() as capture:
        console.print(state)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_the_state_is_drawn() -> None:
    now = [0.0]
    state = JobState(lambda: now[0])
    assert drawn(state) == [""]
    state.update(job("Queued", message="waits for 2 CPUs"))
    now[0] = 65
    assert drawn(state) == ["a  Queued  1:05  waits for 2 CPUs"]
    nodes = [node(0), node(1, "Failed", restarts=2, exitCode=1)]
    metrics = [{"name": "loss", "value": "0.5"}]
    progress = {"progressPercentage": 50, "estimatedRemainingSeconds": 31, "metrics": metrics}
    state.update(job(nodes=nodes, restarts=1, progress=progress))
    head, first, second, bar = drawn(state)
    assert head == "a  Running  0:00  1 restart"
    assert first.split() == ["node-0", "Running"]
    assert second.split(maxsplit=2) == ["node-1", "Failed", "2 restarts, exit 1"]
    assert bar.split()[-6:] == ["50", "%", "0:31", "left", "loss", "0.5"]


def test_what_a_node_suffers_is_drawn() -> None:
    state = JobState()
    suffering: Json = {"restarts": 1, "lastExitCode": 137, "lastReason": "OOMKilled"}
    state.update(job(nodes=[node(0, **suffering), node(1, "Pending", reason="ImagePullBackOff")]))
    _, first, second = drawn(state)
    assert first.split(maxsplit=2)[2] == "1 restart, exit last 137, OOMKilled"
    assert second.split(maxsplit=2)[2] == "ImagePullBackOff"


def test_many_nodes_are_counted() -> None:
    state = JobState()
    state.update(job(nodes=[node(rank) for rank in range(100)]))
    lines = drawn(state)
    assert len(lines) == 10
    assert lines[-1].split(maxsplit=1) == ["...", "and 92 Running"]


def test_progress_without_numbers_is_drawn_too() -> None:
    state = JobState()
    state.update(job(progress={"metrics": [{"name": "a", "value": "1"}]}))
    assert drawn(state)[-1].split() == ["a", "1"]


def test_logs_stand_above_the_state() -> None:
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, width=60, highlight=False, legacy_windows=False
    )
    view = LiveView(console)
    view.job(job())
    view.logs([LogLine("[bold]x[/bold]", "node", 0), LogLine("y" * 80, "node", 1)])
    view.close()
    view.close()
    text = file.getvalue()
    assert "node-0 | [bold]x[/bold]\n" in text
    assert "y" * 80 in text
    assert text.index("[bold]") < text.rindex("Running")
    assert text.endswith("\x1b[2K")


def test_plain_output_is_lines(capsys: pytest.CaptureFixture[str]) -> None:
    view = PlainView()
    view.job(job("Queued", message="waits"))
    view.job(job("Queued", message="waits"))
    view.job(job("Running"))
    view.logs([LogLine("one", "node", 0)])
    view.job(job("Succeeded"))
    view.close()
    captured = capsys.readouterr()
    assert captured.out == "node-0 | one\n"
    assert captured.err == "a: Queued: waits\na: Running\n"
