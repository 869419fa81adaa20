from trainway.cli.node_text import row
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


def test_a_node_of_an_older_server_has_no_failures() -> None:
    older = {name: value for name, value in NODE.items() if name not in ("failures", "drained")}
    assert row("local", {**older, "problem": "it is off"})[-3:] == ["0", "", "it is off"]
