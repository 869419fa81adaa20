from trainway.cli.stack_text import stack_text
from trainway.json_types import Json


def rank(function: str, **more: object) -> Json:
    frame = {"function": function, "file": "train.py", "line": 3}
    thread = {"name": "MainThread", "main": True, "active": False, "frames": [frame]}
    process = {"pid": 7, "command": "python train.py", "method": "py-spy", "threads": [thread]}
    return {"node": "node-1", "host": "h1", "processes": [process], "omitted": 0, **more}


def stacks(*ranks: Json, cause: str = "asked") -> Json:
    return {"attempt": 0, "time": "T", "cause": cause, "ranks": list(ranks), "omitted": 0}


def test_stacks_are_printed_with_the_innermost_call_first() -> None:
    assert stack_text(stacks(rank("stuck"), cause="hang")) == (
        "attempt 1, T, taken because the job hung\n\nnode-1 on h1\n"
        "  process 7 (py-spy): python train.py\n    MainThread\n      stuck (train.py:3)\n"
    )


def test_a_name_cannot_steer_the_terminal_or_fake_a_line() -> None:
    text = stack_text(stacks(rank("\x1b]0;owned\x07\nnode-2\x9b2J\u202e")))
    assert "\\x1b]0;owned\\x07\\nnode-2\\x9b2J\\u202e (train.py:3)" in text
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)


def test_what_is_missing_is_said_with_what_to_do() -> None:
    text = stack_text(stacks(rank("f", omitted=3, problem="no py-spy", hint="install it")))
    assert "  3 more processes are not shown\n  no py-spy\n  hint: install it\n" in text
