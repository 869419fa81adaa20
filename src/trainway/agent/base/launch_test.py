import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from trainway.agent.base.launch import PACKAGE, digest, main, write_compiled_zip, write_zip


def test_equal_sources_give_equal_files_without_tests(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_zip(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with zipfile.ZipFile(tmp_path / "one") as archive:
        names = archive.namelist()
    assert "trainway/agent/host/entry.py" in names
    assert [name for name in names if "test" in name] == []


def test_an_agent_with_bytecode_needs_no_compiling(tmp_path: Path) -> None:
    write_compiled_zip(tmp_path / "agent.pyz")
    script = (
        "import sys; sys.path[0] = sys.argv[1]\n"
        "import builtins; builtins.compile = None\n"
        "import trainway.agent.slurm.driver.drive as found\n"
        "print(found.__cached__)"
    )
    line = [sys.executable, "-I", "-S", "-c", script, str(tmp_path / "agent.pyz")]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("trainway/agent/slurm/driver/drive.pyc")


@pytest.mark.parametrize("write", [write_zip, write_compiled_zip])
def test_an_agent_in_a_file_has_the_version_of_its_sources(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    write(tmp_path / "agent.pyz")
    script = (
        "import sys; sys.path[0] = sys.argv[1]\n"
        "from trainway.agent.base.launch import digest\n"
        "print(digest())"
    )
    line = [sys.executable, "-I", "-S", "-c", script, str(tmp_path / "agent.pyz")]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest()


def test_what_is_compiled_is_not_compiled_again(tmp_path: Path) -> None:
    first, second = tmp_path / "agent.pyz", tmp_path / "again.pyz"
    write_compiled_zip(first)
    script = (
        "import sys; sys.path[0] = sys.argv[1]\n"
        "import builtins; builtins.compile = None\n"
        "from trainway.agent.__main__ import main\n"
        "sys.exit(main(['compile', sys.argv[2]]))"
    )
    line = [sys.executable, "-I", "-S", "-c", script, str(first), str(second)]
    subprocess.run(line, check=True)
    assert second.read_bytes() == first.read_bytes()


def test_an_agent_with_bytecode_says_nothing_of_this_machine(tmp_path: Path) -> None:
    write_compiled_zip(tmp_path / "agent.pyz")
    with zipfile.ZipFile(tmp_path / "agent.pyz") as archive:
        texts = [archive.read(name) for name in archive.namelist()]
    assert [text for text in texts if os.fsencode(PACKAGE) in text] == []


def test_who_compiles_says_where_to(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capfd.readouterr().err == "usage: compile FILE\n"
