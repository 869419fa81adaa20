import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from trainway.agent.environment.uv_wheel import PYPI, Wheel, best, places_of, wheels_of

X86 = "manylinux_2_17_x86_64.manylinux2014_x86_64"
SHA = "a" * 64


def name(version: str, tags: str) -> str:
    return f"uv-{version}-py3-none-{tags}.whl"


@dataclass(frozen=True)
class Case:
    name: str
    wheels: tuple[str, ...]
    machine: str = "x86_64"
    glibc: tuple[int, int] | None = (2, 36)
    wanted: str | None = None


BOTH = "manylinux_2_28_aarch64.musllinux_1_1_aarch64"
MUSL = "musllinux_1_1_x86_64"
CASES = (
    Case("the newest", (name("0.9.9", X86), name("0.10.1", X86), name("0.2.1", X86)),
         wanted=name("0.10.1", X86)),
    Case("its C library first", (name("1.0", MUSL), name("1.0", X86)), wanted=name("1.0", X86)),
    Case("another C library", (name("1.0", MUSL), name("1.0", X86)), glibc=None,
         wanted=name("1.0", MUSL)),
    Case("an old C library", (name("1.0", X86), name("1.0", MUSL)), glibc=(2, 12),
         wanted=name("1.0", MUSL)),
    Case("only the old name of the tag", (name("1.0", "manylinux2014_x86_64"),),
         wanted=name("1.0", "manylinux2014_x86_64")),
    Case("one wheel for both libraries", (name("1.0", BOTH),), "aarch64", None, name("1.0", BOTH)),
    Case("another processor", (name("1.0", X86),), "aarch64"),
    Case("other systems", (name("1.0", "win_amd64"), name("1.0", "macosx_11_0_arm64"))),
    Case("other files", ("uv-1.0.tar.gz", "uvloop-1.0-py3-none-any.whl", "", name("1.0rc1", X86))),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_which_wheel_fits(case: Case) -> None:
    found = best((Wheel(each, f"/w/{each}") for each in case.wheels), case.machine, case.glibc)
    assert (found and found.name) == case.wanted


@dataclass(frozen=True)
class Place:
    name: str
    lines: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    indexes: tuple[str, ...] = (PYPI,)
    folders: tuple[str, ...] = ()


PLACES = (
    Place("nothing is said", ("six", "--pre")),
    Place("variables", settings={"UV_INDEX_URL": "https://a", "UV_EXTRA_INDEX_URL": "https://b",
          "UV_FIND_LINKS": "/w,https://c"}, indexes=("https://a", "https://b"), folders=("/w",)),
    Place("a newer variable", settings={"UV_DEFAULT_INDEX": "https://a", "UV_INDEX": "mine=https://b"},
          indexes=("https://a", "https://b")),
    Place("the requirements", ("--index-url=https://a", "--extra-index-url https://b", "-f /w"),
          indexes=("https://a", "https://b"), folders=("/w",)),
    Place("no index", ("--no-index", "--find-links /w"), indexes=(), folders=("/w",)),
    Place("no index, by a variable", settings={"UV_NO_INDEX": "1"}, indexes=()),
    Place("a secret in a variable", ("-i https://me:${KEY}@a",), {"KEY": "hush"},
          ("https://me:hush@a",)),
    Place("a place that is none", ("-i file:///etc", "-f ./here"), indexes=()),
)  # fmt: skip


@pytest.mark.parametrize("case", PLACES, ids=lambda case: case.name)
def test_where_it_is_looked_for(case: Place) -> None:
    found = places_of(case.lines, case.settings)
    assert (tuple(found.indexes), tuple(found.folders)) == (case.indexes, case.folders)


HTML = f"""<!DOCTYPE html><a href="../../files/uv-1.0-py3-none-{X86}.whl#sha256={SHA}">uv</a>
<a href="https://files/uv-2.0-py3-none-{X86}.whl#sha256={SHA}" data-yanked="bad">uv</a><a>x</a>"""
FILES = [
    {"filename": name("1.0", X86), "url": f"../../files/{name('1.0', X86)}",
     "hashes": {"sha256": SHA}, "yanked": False},
    {"filename": name("2.0", X86), "url": "https://files/2", "hashes": {}, "yanked": "bad"},
    "what is this",
]  # fmt: skip


@pytest.mark.parametrize("page", [HTML, json.dumps({"files": FILES})], ids=["html", "json"])
def test_both_forms_of_a_page_are_read(page: str) -> None:
    (wheel,) = wheels_of(page, "https://index/simple/uv/")
    assert wheel.place == f"https://index/files/{name('1.0', X86)}"
    assert (wheel.version, wheel.sha256) == ("1.0", SHA)


@pytest.mark.parametrize("page", ["", "[]", "{}", '{"files": 3}', "<html>", "\0"])
def test_a_page_that_is_none_lists_nothing(page: str) -> None:
    assert wheels_of(page, "https://index/simple/uv/") == []
