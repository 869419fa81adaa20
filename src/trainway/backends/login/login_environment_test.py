from pathlib import Path

from trainway.backends.login import login_environment as ours
from trainway.backends.login.login_environment import LINK, VARIABLE, login_environment
from trainway.sdk import ssh_agent


def test_both_sides_mean_the_same_link() -> None:
    assert (ours.LINK, ours.VARIABLE) == (ssh_agent.LINK, ssh_agent.VARIABLE)


def test_the_agent_that_was_lent_counts_more_than_our_own(tmp_path: Path) -> None:
    own = {"A": "1", VARIABLE: "/own"}
    assert login_environment(tmp_path, own) == own
    assert login_environment(tmp_path, {}) == {VARIABLE: f"{tmp_path}/{LINK}"}
    ssh_agent.lend(tmp_path, {VARIABLE: "/lent"})
    assert login_environment(tmp_path, own) == {"A": "1", VARIABLE: f"{tmp_path}/{LINK}"}
