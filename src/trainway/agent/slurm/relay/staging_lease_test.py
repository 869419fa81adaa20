"""Two relays for one job."""

from pathlib import Path

import pytest

from trainway.agent.base.directory import Directory
from trainway.agent.slurm.relay.staging_lease import StagingLease


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    return Directory(str(tmp_path))


def test_the_one_that_came_last_waits_until_the_other_lets_go(directory: Directory) -> None:
    first = StagingLease(directory)
    assert [first.check(), first.check()] == [True, True]
    second = StagingLease(directory)
    assert not second.check(), "the first one still writes"
    assert not first.check(), "it sees that there is another one"
    assert second.check()
    assert not first.check()


def test_one_that_is_gone_holds_nobody_up(directory: Directory) -> None:
    first = StagingLease(directory)
    assert first.check()
    first.close()
    assert StagingLease(directory).check()
    assert not first.check()


def test_one_that_was_overtaken_before_it_began_never_begins(directory: Directory) -> None:
    first, second, third = StagingLease(directory), StagingLease(directory), StagingLease(directory)
    assert [first.check(), second.check(), third.check()] == [True, False, False]
    first.close()
    assert [second.check(), third.check(), second.check()] == [False, True, False]
