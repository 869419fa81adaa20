from pathlib import Path

from trainway.backends.login.client_config import named_hosts


def test_hosts_have_names_and_patterns_are_none(tmp_path: Path) -> None:
    folder = tmp_path / ".ssh"
    (folder / "more").mkdir(parents=True)
    (folder / "config").write_text(
        "# Host commented\n"
        "Include more/*\n"
        "Include ~/elsewhere\n"
        'HOST a1 a2 "a3"\n'
        "  HostName 10.0.0.1\n"
        "Host=a4\n"
        "Host *.lab !a5 a1\n"
        "Match host a6\n"
    )
    (folder / "more" / "one").write_text("Host b1\n")
    (tmp_path / "elsewhere").write_text("Host b2\nInclude ~/.ssh/config\n")

    found = named_hosts(folder / "config", tmp_path)

    assert set(found) == {"a1", "a2", "a3", "a4", "b1", "b2"}
    assert len(found) == len(set(found))


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert named_hosts(tmp_path / "config", tmp_path) == []
