import errno
from dataclasses import dataclass

import pytest

from trainway.agent.environment.failure import LONGEST, complaint, os_complaint


@dataclass(frozen=True)
class Case:
    name: str
    said: str
    text: str


MISSING = "Because nothing-like-it was not found in the package registry and you require it"
CASES = (
    Case(
        "uv, framed",
        "Using Python 3.11\n  \u00d7 No solution found when resolving dependencies:\n"
        f"  \u2570\u2500\u25b6 {MISSING},\n      we can conclude that your requirements are "
        "unsatisfiable.\n",
        f"{MISSING}.",
    ),
    Case(
        "uv, plain",
        f"error: No solution found when resolving dependencies\n  cause: {MISSING}, we can "
        "conclude that your requirements are unsatisfiable.\n",
        f"{MISSING}.",
    ),
    Case(
        "pip",
        "Collecting x\nERROR: Could not find a version that satisfies x (from versions: none)\n"
        "\nnotice\nERROR: No matching distribution found for x\n",
        "Could not find a version that satisfies x (from versions: none); "
        "No matching distribution found for x",
    ),
    Case(
        "credentials",
        "error: Failed to fetch: `https://me:secret@index/simple/x/`\n",
        "Failed to fetch: `https://***@index/simple/x/`",
    ),
    Case("something else", "a\nb\n\nc\n", "b c"),
    Case("nothing", "", ""),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_went_wrong_is_one_or_two_lines(case: Case) -> None:
    assert complaint(case.said.splitlines()) == case.text


def test_a_long_complaint_is_cut() -> None:
    assert len(complaint([f"error: {'word ' * 500}"])) <= LONGEST


def test_a_folder_that_cannot_be_written_has_another_variable() -> None:
    error = OSError(errno.EROFS, "Read-only file system", "/environments/locks/x")
    said = os_complaint(error, "/environments")
    assert said.endswith("/locks/x; let TRAINWAY_ENVIRONMENTS name a folder that can be written")
    assert os_complaint(OSError(errno.ENOENT, "No such file", "/req"), "/environments") == (
        "No such file: /req"
    )


@pytest.mark.parametrize(
    ("filename", "is_ours"),
    [
        ("/home/me/.cache/trainway/environments", True),
        ("/home/me/.cache/trainway/environments/locks", True),
        ("/home/me/.cache", True),
        ("/home/me", True),
        ("/home/m", False),
        ("/home/me/.cache/trainway/environments.txt", False),
        ("", False),
        (None, False),
    ],
)
def test_a_home_that_cannot_be_written_has_another_variable_too(
    filename: str | None, *, is_ours: bool
) -> None:
    error = OSError(errno.EACCES, "Permission denied", filename)
    said = os_complaint(error, "/home/me/.cache/trainway/environments")
    assert said.startswith("Permission denied")
    assert ("TRAINWAY_ENVIRONMENTS" in said) == is_ours
