import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainway import __version__
from trainway.cli import entry
from trainway.cli.help import render

STORED = Path(entry.__file__).with_name("help.txt").read_text("utf-8")
LIGHT = """
import sys
before = set(sys.modules)
sys.argv = ["trainway", *{args!r}]
from trainway.cli.entry import main
status = main()
print(sorted(set(sys.modules) - before), file=sys.stderr)
sys.exit(status)
"""


def test_the_stored_help_is_up_to_date() -> None:
    assert render() == STORED, "run: make generate"


@pytest.mark.parametrize("args", [[], ["-h"], ["--help"], ["--version"]], ids=str)
def test_help_and_version_import_next_to_nothing(args: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(args=args)], capture_output=True, text=True, check=True
    )

    assert done.stdout == (f"trainway {__version__}\n" if args == ["--version"] else STORED)
    modules = ["trainway", "trainway.cli", "trainway.cli.entry", "trainway.version"]
    assert done.stderr == f"{modules}\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)

    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(args=["--help"])],
        stdout=write_end, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(write_end)

    assert done.returncode == 1
    assert "Error" not in done.stderr


def test_other_arguments_go_to_click(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["trainway", "runtimes", "list", "-o", "name"])

    with pytest.raises(SystemExit) as caught:
        entry.main()

    assert caught.value.code == 0
    assert "torch-distributed\n" in capsys.readouterr().out


def test_a_shell_gets_its_completions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["trainway"])
    monkeypatch.setenv("_TRAINWAY_COMPLETE", "zsh_source")

    with pytest.raises(SystemExit):
        entry.main()

    assert "#compdef trainway" in capsys.readouterr().out


def test_an_interrupt_during_start_up_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["trainway", "--help"])
    monkeypatch.setattr(entry, "_stored_help", interrupted)

    assert entry.main() == 130
