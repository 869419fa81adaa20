from dataclasses import dataclass

import pytest

from trainway.agent.environment.requirements import Requirements, key_of

PYTHON = {"prefix": "/usr", "version": "3.11.7"}


def test_comments_and_options_are_no_packages() -> None:
    wanted = Requirements("# all\n\nsix  # small\n--index-url http://a/#b\nurl @ http://b#sha\n")
    assert wanted.packages == ["six", "url @ http://b#sha"]
    assert wanted.lines[1] == "--index-url http://a/#b"
    assert wanted.plain is None
    assert Requirements("a\nb == 2\n").plain == [("a", ""), ("b", "2")]
    assert Requirements("/w/a.whl\nb @ file:///w/b.whl").paths == ["/w/a.whl", "/w/b.whl"]
    assert Requirements("a\nb\nc\nd\ne").summary() == "a, b, c and 2 more"


@dataclass(frozen=True)
class Case:
    name: str
    text: str = "a\nb==1"
    version: str = "3.11.7"
    index: str = ""
    file: str = ""
    is_same: bool = False


CASES = (
    Case("the same", is_same=True),
    Case("another order", text="b==1\n\na # here", is_same=True),
    Case("another version", text="a\nb==2"),
    Case("another Python", version="3.12.1"),
    Case("another index", index="http://mirror"),
    Case("another option", text="--pre\na\nb==1"),
    Case("another wheel under the same name", file="12-99"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_environment_is_named_by_its_content(case: Case) -> None:
    first = key_of(Requirements("a\nb==1"), PYTHON, {"HOME": "/a"}, {})
    environ = {"HOME": "/b", **({"UV_INDEX_URL": case.index} if case.index else {})}
    files = {"/w/a.whl": case.file} if case.file else {}
    python = {**PYTHON, "version": case.version}
    found = key_of(Requirements(case.text), python, environ, files)
    assert (found == first) == case.is_same
