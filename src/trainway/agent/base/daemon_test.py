import os
import stat
from pathlib import Path

import pytest

from trainway.agent.base.daemon import own_directory


def test_a_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    own_directory(str(tmp_path / "a" / "b"))
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o2770])
def test_one_that_is_ours_stays_as_it_is(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    own_directory(str(tmp_path))
    assert stat.S_IMODE(tmp_path.stat().st_mode) == mode


def test_one_that_all_may_write_to_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    with pytest.raises(PermissionError, match="every user can write there"):
        own_directory(str(tmp_path))
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777


def test_one_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="it belongs to another user"):
        own_directory(str(tmp_path))
