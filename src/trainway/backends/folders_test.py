"""Folders are looked at by a shell, here as anywhere."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from trainway.backends import folders
from trainway.backends.folders import Folder


def test_what_is_wrong_is_said_of_each_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    odd = tmp_path / "two\nlines 'quoted' $HOME"
    odd.mkdir()
    wanted = [
        Folder(str(odd), is_written=True),
        Folder(str(tmp_path / "none")),
        Folder(str(tmp_path / "file")),
    ]
    assert folders.here(wanted) == [
        f"{tmp_path}/none does not exist on this machine",
        f"{tmp_path}/file is not a folder on this machine",
    ]
    assert folders.here(wanted[:1]) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask as somebody else")
def test_what_the_user_may_not_do_is_said() -> None:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        home.chmod(0o755)
        closed, fixed = home / "closed", home / "fixed"
        closed.mkdir(mode=0o700)
        fixed.mkdir(mode=0o755)
        wanted = [Folder(str(closed)), Folder(str(fixed)), Folder(str(fixed), is_written=True)]
        asked = subprocess.run(
            folders.question(wanted), user=65534, capture_output=True, text=True, check=True
        )
    lacks = folders.answered(wanted, asked.stdout)
    assert lacks == [(wanted[0], "cannot be read"), (wanted[2], "cannot be written")]


def test_what_else_a_host_prints_means_nothing() -> None:
    wanted = [Folder("/a")]
    printed = "Welcome!\ntrainway-folder 0 missing\ntrainway-folder 7 missing\ntrainway-folder x\n"
    lacks = folders.answered(wanted, printed + "trainway-folder ² missing\ntrainway-folder 0 odd")
    assert lacks == [(wanted[0], "does not exist")]
    assert folders.said({"h0": lacks, "h1": [], "h2": lacks}) == ["/a does not exist on h0, h2"]
