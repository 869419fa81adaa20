from trainway.cli.node_text import aside, row
from trainway.cli.times import parse_time
from trainway.json_types import Json

NODE: Json = {
    "name": "h1",
    "state": "up",
    "problem": "it is set aside: its fan is loud",
    "cpus": 4.0,
    "freeCpus": 1.5,
    "memory": 64 << 30,
    "freeMemory": 32 << 30,
    "gpus": 2,
    "freeGpus": 0,
    "jobs": [{"id": "a"}],
    "failures": {"NodeLost": 2, "ExitCode": 1},
    "drained": "its fan is loud",
}


def test_a_row_says_why_it_is_set_aside_once() -> None:
    assert row("ssh/lab", NODE) == [
        *("ssh/lab", "h1", "up", "1.5/4", "32/64 GiB", "0/2", "1"),
        *("3 (NodeLost 2, ExitCode 1)", "its fan is loud", ""),
    ]


def test_a_row_says_who_has_set_it_aside_since_and_until_when() -> None:
    since, until = "2026-11-18T04:00:00.000000Z", "2026-11-18T06:30:59.000000Z"
    terms = {"drainedBy": "ana", "drainedSince": since, "drainedUntil": until}
    local = [parse_time(text).astimezone().strftime("%Y-%m-%d %H:%M") for text in (since, until)]
    assert aside({**NODE, **terms}) == (
        f"its fan is loud (by ana, since {local[0]}, until {local[1]})"
    )
    assert aside({**NODE, "drainedBy": "ana", "drainedSince": None}) == "its fan is loud (by ana)"
    assert aside({**NODE, "drained": "", "drainedBy": ""}) == ""


def test_a_node_of_an_older_server_has_no_failures() -> None:
    older = {name: value for name, value in NODE.items() if name not in ("failures", "drained")}
    assert row("local", {**older, "problem": "it is off"})[-3:] == ["0", "", "it is off"]
