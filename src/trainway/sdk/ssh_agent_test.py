from pathlib import Path

from trainway.sdk.ssh_agent import LINK, VARIABLE, lend


def test_the_last_shell_that_has_an_agent_lends_it(tmp_path: Path) -> None:
    link = tmp_path / LINK
    for agent, wanted in (("/a", "/a"), ("/b", "/b"), ("", "/b"), ("/b", "/b"), (str(link), "/b")):
        lend(tmp_path, {VARIABLE: agent} if agent else {})
        assert str(link.readlink()) == wanted
    assert [path.name for path in tmp_path.iterdir()] == [LINK]


def test_where_nobody_has_one_or_there_is_no_home_nothing_is_made(tmp_path: Path) -> None:
    lend(tmp_path, {})
    lend(tmp_path / "nowhere", {VARIABLE: "/a"})
    assert list(tmp_path.iterdir()) == []
