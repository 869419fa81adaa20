import base64
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainway.errors import TrainwayError, UsageError
from trainway.sdk import function_boot
from trainway.sdk.functions import FunctionCall, captured, decoded_result

RESULT = Path(".trainway", "result.json")


def add(x: Any, y: Any = 1) -> Any:
    return x + y


def echo(value: Any) -> Any:
    return value


def where() -> Any:
    import multiprocessing  # noqa: PLC0415 - in the job
    import sys  # noqa: PLC0415 - in the job

    main = sys.modules["__main__"]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (seen,) = pool.map(echo, ["from a child"])
    return [Path(str(main.__file__)).name, sys.argv, seen, hasattr(main, "pickle")]


def threads() -> Any:
    import threading  # noqa: PLC0415 - in the job

    return threading.Lock()


async def later(x: int) -> int:
    return x


def fails() -> None:
    raise ValueError("the reason")


def call(
    call: FunctionCall, output: Path, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the command of a call as a job would."""
    _, *command = call.command()
    return subprocess.run(
        [sys.executable, *command, *call.args()],
        env={**os.environ, "TRAINWAY_OUTPUT_DIR": str(output), **(env or {})},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def function_result(output: Path, *, allow_pickle: bool = False) -> Any:
    result = json.loads((output / RESULT).read_text())
    return decoded_result(result, allow_pickle=allow_pickle)


@pytest.mark.parametrize(
    ("func", "args", "kwargs", "encoding", "value"),
    [
        (add, (1,), {"y": 2}, "json", 3),
        (add, ("a\ud800",), {"y": "b"}, "json", "a\ud800b"),
        (add, ((1,), (2,)), {}, "pickle", (1, 2)),
        (echo, ({1: {2}},), {}, "pickle", {1: {2}}),
        (echo, (b"\x00\xff",), {}, "pickle", b"\x00\xff"),
        (echo, (None,), {}, "json", None),
        (later, (5,), {}, "json", 5),
        (echo, ("ä" * 60_000,), {}, "json", "ä" * 60_000),
        (echo, ("x" * 300_000,), {}, "json", "x" * 300_000),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value)[:20],
)
def test_a_call_comes_back_with_its_value(
    func: Callable[..., Any], args: Any, kwargs: Any, encoding: str, value: Any, tmp_path: Path
) -> None:
    sent = captured(func, args, kwargs)
    assert sent.encoding == encoding
    assert max(len(arg.encode(errors="surrogatepass")) for arg in sent.args()) < 128 * 1024
    done = call(sent, tmp_path)
    assert done.stderr == ""
    assert function_result(tmp_path) == value


def test_a_function_has_a_file_that_children_import(tmp_path: Path) -> None:
    done = call(captured(where), tmp_path)
    assert done.stderr == ""
    path = str(tmp_path / ".trainway" / "where.py")
    assert function_result(tmp_path) == ["where.py", [path], "from a child", False]


@pytest.mark.parametrize(
    ("env", "writes"),
    [
        ({"RANK": "0", "JOB_COMPLETION_INDEX": "1"}, True),
        ({"RANK": "1", "JOB_COMPLETION_INDEX": "0"}, False),
        ({"JOB_COMPLETION_INDEX": "1"}, False),
        ({"OMPI_COMM_WORLD_RANK": "2"}, False),
    ],
)
def test_only_the_first_rank_answers(env: dict[str, str], writes: bool, tmp_path: Path) -> None:
    assert call(captured(add, (1,)), tmp_path, env).returncode == 0
    assert (tmp_path / RESULT).exists() == writes


def test_an_exception_shows_the_line_and_leaves_no_value(tmp_path: Path) -> None:
    done = call(captured(fails), tmp_path)
    assert done.returncode == 1
    assert 'raise ValueError("the reason")' in done.stderr
    assert not (tmp_path / RESULT).exists()


def test_a_value_that_cannot_travel_is_named(tmp_path: Path) -> None:
    assert call(captured(threads), tmp_path).returncode == 0
    with pytest.raises(TrainwayError, match="the function returned a lock, which cannot be sent"):
        function_result(tmp_path)


def test_arguments_that_cannot_travel_are_refused() -> None:
    with pytest.raises(UsageError, match="the arguments of echo cannot be sent"):
        captured(echo, (lambda: 1,))
    with pytest.raises(UsageError, match=r"echo and its arguments are 2\.0 MB"):
        captured(echo, ("x" * 2_000_000,)).args()
    with pytest.raises(UsageError, match=r"echo and its arguments are 61\.0 MB, and at most 60 MB"):
        captured(echo, ("x" * 61_000_000,)).files()


def run_files(
    call: FunctionCall, folder: Path, env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Run a call as a pod would that has its files in the folder."""
    for name, content in call.files().items():
        (folder / name).write_bytes(content)
    _, *command = call.command_of_files()
    kept = {name: value for name, value in os.environ.items() if "TRAINWAY" not in name}
    return subprocess.run(
        [sys.executable, *(word.replace("/opt/trainway/files", str(folder)) for word in command)],
        env={**kept, "TMPDIR": str(folder), **(env or {})},
        capture_output=True, check=False,
    )  # fmt: skip


def value_in(log: bytes) -> Any:
    pieces = [line.split() for line in log.splitlines()]
    assert {mark for mark, *_ in pieces} == {b"\x1etrainway-result"}
    assert [(int(n), int(count)) for _, _, n, count, _ in pieces] == [
        (n, len(pieces)) for n in range(len(pieces))
    ]
    data = b"".join(piece for *_, piece in pieces)
    return decoded_result(json.loads(zlib.decompress(base64.b64decode(data))))


@pytest.mark.parametrize(
    ("func", "args", "value"),
    [
        (echo, ("$(HOME) ä \ud800",), "$(HOME) ä \ud800"),
        (echo, ({1: b"\x00"},), {1: b"\x00"}),
        (later, (5,), 5),
        (echo, ("x" * 3_000_000,), "x" * 3_000_000),
    ],
    ids=["text", "pickle", "coroutine", "long"],
)
def test_a_call_in_files_brings_its_value_back_through_the_log(
    func: Callable[..., Any], args: Any, value: Any, tmp_path: Path
) -> None:
    done = run_files(captured(func, args), tmp_path)
    assert done.stderr == b""
    assert value_in(done.stdout) == value


def test_in_pods_too_only_the_first_rank_answers(tmp_path: Path) -> None:
    assert run_files(captured(add, (1,)), tmp_path, {"RANK": "1"}).stdout == b""


def test_from_a_host_the_value_comes_back_as_a_file(tmp_path: Path) -> None:
    call = captured(add, (1,))
    files = call.files(returns_by_log=False)
    output = tmp_path / "output"
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    python, *words = call.command_of_files("python3")
    subprocess.run(
        [sys.executable, *(word.replace("/opt/trainway/files", str(tmp_path)) for word in words)],
        env={**os.environ, "TRAINWAY_OUTPUT_DIR": str(output)},
        check=True,
    )
    assert python == "python3"
    assert decoded_result(json.loads((output / ".trainway" / "result.json").read_bytes())) == add(1)


def said() -> None:
    print("one", "line")  # noqa: T201 - the job's log


@pytest.mark.skipif(
    not hasattr(os, "O_DIRECT"), reason="only Linux has pipes that keep writes apart"
)
@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_a_line_is_written_with_its_end(unbuffered: str, tmp_path: Path) -> None:
    call = captured(said)
    reader, writer = os.pipe2(os.O_DIRECT)
    with os.fdopen(reader, "rb", buffering=0) as packets:
        subprocess.run(
            [sys.executable, *call.command()[1:], *call.args()],
            env={"TRAINWAY_OUTPUT_DIR": str(tmp_path), "PYTHONUNBUFFERED": unbuffered},
            stdout=writer,
            check=True,
        )
        os.close(writer)
        assert packets.read(4096) == b"one line\n"


def test_a_value_too_large_for_a_log_is_named() -> None:
    with pytest.raises(TrainwayError, match=r"returned a str of 9\.0 MB, too much to come back"):
        decoded_result({"encoding": "large", "type": "str", "value": 9_000_000})


def test_processes_of_a_pod_share_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TRAINWAY_OUTPUT_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    both = [function_boot.scratch_folder(is_shared=True) for _ in range(2)]
    assert both[0] == both[1]
    assert both[0].stat().st_mode & 0o777 == 0o700
    alone = [function_boot.scratch_folder(is_shared=False) for _ in range(2)]
    assert alone[0] != alone[1]


class Unequal:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = object.__hash__


def test_values_with_an_equality_of_their_own_are_pickled() -> None:
    assert json.loads(function_boot.encoded(Unequal()))["encoding"] == "pickle"


@pytest.mark.parametrize(
    ("package", "installed"),
    [
        ("pytest", True),
        (f"pytest=={pytest.__version__}", True),
        ("pytest==1.0", False),
        ("pytest>=1", False),
        ("no-such-package-here", False),
        ("a/b", False),
    ],
)
def test_packages_that_are_there_are_known(package: str, installed: bool) -> None:
    assert function_boot.is_installed(package) == installed


def test_packages_are_installed_once_and_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def fake_call(command: list[str]) -> int:
        calls.append(command)
        return 0

    monkeypatch.setattr(subprocess, "call", fake_call)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PYTHONPATH", "/else")
    for _ in range(2):
        function_boot.install(["pytest", "nothing-like-it"], ["http://a", "http://b"], tmp_path)
    target = str(tmp_path / "packages")
    ((*_, last),) = calls
    assert last == "nothing-like-it"
    assert calls[0][-7:-1] == [
        "--target", target, "--index-url", "http://a", "--extra-index-url", "http://b"
    ]  # fmt: skip
    assert sys.path[0] == target
    assert os.environ["PYTHONPATH"].startswith(target + os.pathsep)


def test_packages_that_cannot_be_installed_end_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "call", lambda _command: 1)
    with pytest.raises(SystemExit, match="could not be installed: nothing-like-it"):
        function_boot.install(["nothing-like-it"], [], tmp_path)


@pytest.mark.parametrize(
    "value",
    [
        (0.5, [1, (2, 3)]),
        {"loss": float("inf"), "shape": (3, 4)},
        {1: "a", (2, 3): b"\x00", None: frozenset({4})},
        {function_boot.TAG: "tuple", "items": []},
        {"items": {"tag": (1,)}},
        [True, None, -0.0, 2**70, "\ud800"],
    ],
    ids=repr,
)
def test_plain_data_comes_back_as_json(value: Any) -> None:
    text = function_boot.encoded(value)
    result = json.loads(text, parse_constant=pytest.fail)
    assert result["encoding"] in ("json", "tagged")
    back = decoded_result(result)
    assert (type(back), repr(back)) == (type(value), repr(value))


def test_a_number_that_is_none_comes_back() -> None:
    (back,) = decoded_result(json.loads(function_boot.encoded((float("nan"),))))
    assert back != back  # noqa: PLR0124 - only NaN is unlike itself


def mark(path: str) -> None:
    Path(path).touch()


class Marks:
    """What runs code when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return mark, (str(self.path),)


def test_a_pickle_is_read_only_for_those_who_allow_it(tmp_path: Path) -> None:
    result = json.loads(function_boot.encoded(Marks(tmp_path / "ran")))
    assert result["encoding"] == "pickle"
    with pytest.raises(TrainwayError, match="returned a Marks, which is not plain data") as caught:
        decoded_result(result)
    assert "result(allow_pickle=True)" in str(caught.value.hint)
    assert not (tmp_path / "ran").exists()
    decoded_result(result, allow_pickle=True)
    assert (tmp_path / "ran").exists()


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"encoding": "json"},
        {"encoding": "yaml", "value": 1},
        {"encoding": "tagged", "value": {function_boot.TAG: "eval", "items": []}},
        {"encoding": "tagged", "value": {function_boot.TAG: "set", "items": [[]]}},
        {"encoding": "tagged", "value": {function_boot.TAG: "bytes"}},
        {"encoding": "tagged", "value": nested(5_000)},
        {"encoding": "large", "type": "str", "value": "much"},
    ],
    ids=lambda result: str(result.get("encoding"))[:10],
)
def test_what_a_job_wrote_there_itself_is_an_error_and_no_traceback(result: Any) -> None:
    with pytest.raises(TrainwayError, match="the value that the function returned cannot be read"):
        decoded_result(result)
