import pytest

from trainway.engine.stacks.answer import rank_view, unreached
from trainway.json_types import Json

PLACE: Json = {"role": "node", "replica": 0, "rank": 1, "host": "h1", "remote": {"node": "x"}}
FRAME = {"function": "stuck", "file": "train.py", "line": 3}
THREAD = {"name": "MainThread", "main": True, "active": False, "frames": [FRAME]}
PROCESS = {"pid": 7, "command": "python train.py", "method": "py-spy", "threads": [THREAD]}
FAILED: Json = {"pid": 7, "command": "python", "threads": [], "error": "no", "hasPySpy": False}

NOT_ALLOWED = (
    "py-spy needs the right to read other processes: kernel.yama.ptrace_scope must be 0, "
    "or a container needs SYS_PTRACE"
)


def test_a_good_answer_is_kept_as_it_is() -> None:
    view = rank_view(PLACE, {"processes": [PROCESS], "omitted": 2, "refused": []})
    assert view["node"] == "node-1"
    assert view["processes"] == [PROCESS]
    assert view["omitted"] == 2
    assert "problem" not in view


@pytest.mark.parametrize(
    ("place", "process", "hint"),
    [
        (PLACE, FAILED, "pip install 'trainway[debug]' on h1"),
        ({**PLACE, "host": ""}, FAILED, "pip install 'trainway[debug]' on this machine"),
        ({**PLACE, "remote": {}}, FAILED, "install py-spy in the image of the job"),
        (
            PLACE,
            {**FAILED, "hasPySpy": True},
            NOT_ALLOWED,
        ),
    ],
    ids=["host", "this machine", "cluster", "not allowed"],
)
def test_the_hint_says_what_is_missing_and_where(place: Json, process: Json, hint: str) -> None:
    view = rank_view(place, {"processes": [process], "refused": ["/x/py-spy is not run: why"]})
    assert view["hint"] == hint
    assert view["problem"] == "no; /x/py-spy is not run: why"


def test_a_pod_that_cannot_be_asked_says_why() -> None:
    view = unreached(PLACE, "Connection refused")
    assert view["problem"] == "its stacks could not be taken: Connection refused"
    assert view["processes"] == []
