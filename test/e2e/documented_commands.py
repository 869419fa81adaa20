"""The commands that the documentation shows, and how they are typed again.

A block in a page is ```bash or ```sh (commands to type), ```console (a transcript: commands after
`$ `, and what they print) or ```text (anything else, such as a synopsis). Commands of a page are
typed into one shell, one after the other, in a folder that has what the repository has.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from environments import REPOSITORY
from installation import TIMEOUT_S
from slurm_ports import free_ports

PAGES: Final = [
    REPOSITORY / "README.md",
    REPOSITORY / "charts" / "trainway" / "README.md",
    *sorted(REPOSITORY.glob("docs/*.md")),
]
FENCE: Final = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.S | re.M)
MARK: Final = "=====documented====="
SHOWN_PORT: Final = "8470"
"""In the pages; whatever is free takes its place, since others may use the machine."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str


@dataclass(frozen=True)
class Command:
    """What one types, and for a transcript what is printed then."""

    text: str
    place: str
    printed: str | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"

    def words(self) -> list[str]:
        return shlex.split(self.text, comments=True)


@dataclass(frozen=True)
class Typed:
    """A command that was typed."""

    command: Command
    code: int
    printed: str


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        body = re.sub(f"^{found['indent']}", "", found["text"], flags=re.M)
        yield Block(page, text.count("\n", 0, found.start()) + 2, found["language"], body)


def commands(page: Path) -> list[Command]:
    """All commands of a page, in its order."""
    found: list[Command] = []
    for block in blocks(page):
        if block.language in {"bash", "sh"} and not block.text.startswith("#!"):
            found += _typed_lines(block)
        elif block.language == "console":
            found += _transcript(block)
    return found


def _typed_lines(block: Block) -> Iterator[Command]:
    lines = block.text.splitlines()
    start, text = 0, ""
    for number, line in enumerate(lines):
        start, text = (start, f"{text}\n{line}") if text else (number, line)
        if _is_whole(text):
            if shlex.split(text, comments=True):
                yield Command(text, f"{block.page.name}:{block.line + start}")
            text = ""
    assert not text, f"{block.page.name}:{block.line + start}: {text}"


def _is_whole(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return not text.endswith("\\")


def _transcript(block: Block) -> Iterator[Command]:
    for number, part in enumerate(re.split(r"^\$ ", block.text, flags=re.M)):
        if number:
            typed, _, printed = part.partition("\n")
            yield Command(typed, f"{block.page.name}:{block.line}", printed)


def type_in(
    typed: Sequence[Command], folder: Path, variables: Mapping[str, str] | None = None
) -> list[Typed]:
    """Type commands into one shell, in the folder and with the home that is in it."""
    port = str(*free_ports(1))
    script = ["rc=0"]
    for number, command in enumerate(typed):
        text = command.text.replace(SHOWN_PORT, port)
        script += [f"echo; echo '{MARK}' {number}; (exit $rc)", text, "rc=$?"]
        script += [f"echo; echo '{MARK}' end $rc"]
    done = subprocess.run(
        ["/bin/bash", "-c", "\n".join(script)],
        cwd=folder,
        env=_environ(folder) | dict(variables or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
        timeout=TIMEOUT_S,
        check=False,
    )
    said = re.findall(rf"^{MARK} \d+\n(.*?)\n{MARK} end (\d+)$", done.stdout, re.S | re.M)
    assert len(said) == len(typed), done.stdout[-8000:]
    return [
        Typed(command, int(code), printed)
        for command, (printed, code) in zip(typed, said, strict=True)
    ]


def _environ(folder: Path) -> dict[str, str]:
    """Of a newcomer: nothing of ours is set, and no torch can be imported."""
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR", "USER") if name in os.environ}
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    return kept | {"HOME": str(folder / "home"), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


FILES: Final = {
    "train.py": "print('training')\n",
    "train.sh": "#!/bin/sh\necho training\n",
    "train.yaml": "name: train\nenvs: {LR: 0.3}\nsetup: echo setup\nrun: echo lr $LR\n",
    "my-job.yaml": (REPOSITORY / "examples" / "torch-ddp.yaml").read_text("utf-8"),
    "a100.yaml": "resources: {accelerators: A100:8}\nrun: nvidia-smi\n",
    "token.txt": "a-token-of-the-reader\n",
}
"""What a reader has of their own."""


def newcomers_folder(folder: Path) -> Path:
    """A folder like the root of the repository, with a home inside."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "home").mkdir()
    for name in ("examples", "charts", "manifests", ".venv"):
        (folder / name).symlink_to(
            Path(sys.executable).parents[1] if name == ".venv" else REPOSITORY / name
        )
    for name, text in FILES.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o700)
    return folder


PLACEHOLDERS: Final[Sequence[tuple[str, str]]] = (
    (r"\x1b\[[0-9;]*m", ""),
    (r"\b3[0-9a-z]{11}\b", "ID"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b", "DATE"),
    (r"\b\d\d:\d\d:\d\d\b", "TIME"),
    (r"\b(?:\d+h ?)?(?:\d+m ?)?\d+(?:\.\d+)?s\b", "SECONDS"),
    (r"\b\d+(?:\.\d+)? (?:[KMGT]i?B|%)", "SIZE"),
    (r"/\S*/jobs/ID", "JOB_FOLDER"),
    (r"[ \t]+", " "),
)
ON_THE_WAY: Final = re.compile(
    r"^\S+: (Pending|Queued|Starting|Running|Restarting|Stopping)\b", re.M
)
"""Lines for phases that pass; how many of them are seen depends on how fast the machine is."""


def comparable(printed: str) -> dict[str, list[str]]:
    """What was printed, with placeholders for ids, times and sizes, in the order of each writer.

    Lines of several nodes come in any order, but each node's own lines keep theirs.
    """
    for pattern, placeholder in PLACEHOLDERS:
        printed = re.sub(pattern, placeholder, printed)
    by_writer: dict[str, list[str]] = {}
    for line in printed.splitlines():
        if line.strip() and not ON_THE_WAY.match(line):
            writer = line.split("|")[0] if "|" in line else line.split(" ")[0]
            by_writer.setdefault(writer, []).append(line.rstrip())
    return by_writer


def inline_commands(page: Path, is_ours: Callable[[str], bool]) -> list[str]:
    """What stands in the sentences and tables of a page as `trainway ...`."""
    text = FENCE.sub("", page.read_text("utf-8"))
    return [code for code in re.findall(r"`([^`\n]+)`", text) if is_ours(code)]
