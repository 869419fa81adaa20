"""The page of protocols tells of everything that the programs understand."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import protocols

SOURCE = Path(__file__).resolve().parent.parent / "src" / "trainway"
SHAPES = {item.module: protocols.shapes_of(SOURCE / item.module)[1] for item in protocols.PROTOCOLS}
OPERATION = r'operation == "(\w+)"'
METHOD = r"def _op_(\w+)"
NAMES = {shape.name for shapes in SHAPES.values() for shape in shapes}


def tags(module: str) -> set[str]:
    return {value for shape in SHAPES[module] for value in shape.tag[1]}


@dataclass(frozen=True)
class Case:
    reader: str
    pattern: str
    module: str


@pytest.mark.parametrize(
    "case",
    [
        Case("agent/host/operations.py", METHOD, "agent/transfer/frames.py"),
        Case("agent/slurm/relay/operations.py", METHOD, "agent/slurm/relay/relay_frames.py"),
        Case("agent/slurm/files/feed.py", OPERATION, "agent/transfer/feed_frames.py"),
        Case(
            "agent/slurm/driver/step_pod.py",
            r'operation == "(\w+)"',
            "agent/slurm/driver/task_frames.py",
        ),
        Case("agent/pool/requests.py", OPERATION, "agent/supervisor/requests.py"),
        Case("agent/pool/clusters.py", OPERATION, "agent/supervisor/requests.py"),
        Case("agent/pool/state.py", r'type_ == "(\w+)"', "agent/pool/state_records.py"),
        Case("agent/pool/intake.py", r'event == "(\w+)"', "agent/transfer/host_events.py"),
        Case("agent/supervisor/recovery.py", r'type_ == "(\w+)"', "agent/base/records.py"),
        Case("engine/observation.py", r'case "(\w+)"', "agent/base/records.py"),
    ],
    ids=lambda case: case.reader,
)
def test_what_a_program_understands_is_on_the_page(case: Case) -> None:
    understood = set(re.findall(case.pattern, (SOURCE / case.reader).read_text("utf-8")))

    assert understood
    assert understood <= tags(case.module)


@pytest.mark.parametrize("module", SHAPES)
def test_everything_is_described(module: str) -> None:
    for shape in SHAPES[module]:
        assert shape.docstring.endswith((".", ".\n")), shape.name
        for item in shape.fields:
            says = item.meaning or item.name == shape.tag[0] or item.type.split()[-1] in NAMES
            assert says, f"{shape.name}.{item.name}"


def test_a_typed_dict_becomes_a_table(tmp_path: Path) -> None:
    module = tmp_path / "frames.py"
    module.write_text(
        '"""Frames. For type checkers only."""\n'
        "if TYPE_CHECKING:\n"
        "    class Stop(TypedDict):\n"
        '        """Stops a pod."""\n'
        '        op: Literal["stop"]\n'
        "        uid: NotRequired[str | None]\n"
        '        """The uid of the pod."""\n',
        encoding="utf-8",
    )

    docstring, (shape,) = protocols.shapes_of(module)

    assert docstring == "Frames."
    assert shape.tag == ("op", ["stop"])
    assert shape.fields[1] == protocols.Field("uid", "string or null", True, "The uid of the pod.")


def test_the_modules_of_agents_define_nothing_when_they_run() -> None:
    for item in protocols.PROTOCOLS:
        if item.module.startswith("agent/"):
            tree = ast.parse((SOURCE / item.module).read_text("utf-8"))
            assert not [node for node in tree.body if isinstance(node, ast.ClassDef)]
