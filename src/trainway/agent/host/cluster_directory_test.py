from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.host import cluster_directory


@pytest.fixture
def home(tmp_path: Path) -> Directory:
    (tmp_path / "agent").mkdir()
    return Directory(str(tmp_path / "agent"))


def test_the_name_that_tasks_know_leads_to_the_first_cluster(
    home: Directory, tmp_path: Path
) -> None:
    known = tmp_path / "sky_workdir"
    paths = [Path(cluster_directory.path_of(home, name)) for name in ("one", "two")]
    for path in paths:
        path.mkdir(parents=True)
        cluster_directory.link(str(path), str(tmp_path))
    assert known.resolve() == paths[0].resolve()
    assert cluster_directory.folders(home, "two", str(tmp_path)) == [str(paths[1].parent)]
    gone = cluster_directory.folders(home, "one", str(tmp_path))
    assert gone == [str(paths[0].parent), str(known)]
    paths[0].rmdir()
    cluster_directory.link(str(paths[1]), str(tmp_path))
    assert known.resolve() == paths[1].resolve(), "a link that leads nowhere makes way"


def test_what_the_user_has_under_that_name_stays(home: Directory, tmp_path: Path) -> None:
    known = tmp_path / "sky_workdir"
    known.mkdir()
    cluster_directory.link(cluster_directory.path_of(home, "one"), str(tmp_path))
    assert not known.is_symlink()


@pytest.mark.parametrize("name", ["", "..", "a/b", ".x", "a" * 129])
def test_no_other_folder_can_be_named(name: str) -> None:
    assert not cluster_directory.is_cluster(name)
