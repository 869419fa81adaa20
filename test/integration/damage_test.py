"""A damaged database under a real server: it is set aside, told of once, and no job is lost."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.engine.testing import WAIT_FOR_FILE, jobset
from trainway.server.testing import LIMIT_S, RunningServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    with RunningServer(tmp_path / "home") as server:
        yield server


def invoke(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, words, prog_name="trainway")
    assert result.exit_code == code, result.output
    return result


def harm(server: RunningServer) -> None:
    """Write something else over pages in the middle of the database."""
    database = server.home / "trainway.db"
    with database.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * 16_384)


def test_a_damaged_database_is_rebuilt_from_the_directories_of_jobs(
    server: RunningServer, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    server.submit(jobset("done", "echo done"))
    server.wait("done")
    server.submit(jobset("runs", f"echo one; {WAIT_FOR_FILE.format(go)}; echo two"))
    server.wait("runs", "Running")
    invoke("schedule", "create", "0 3 1 1 *", "--name", "yearly", "--", "true")
    server.stop()
    harm(server)
    assert "is damaged" in invoke("server", "check", code=1).stdout
    invoke("server", "backup", str(tmp_path / "copy.db"), code=1)

    server.start()
    (aside,) = server.home.glob("trainway.db.damaged-*Z")
    told = invoke("jobs", "list").stderr
    assert told == (
        f"warning: the database {server.home}/trainway.db was damaged and is now {aside}; 2 jobs "
        "were found again in their directories; what only waited is lost\n"
    )
    assert invoke("jobs", "list").stderr == ""
    assert "is not damaged" in invoke("server", "check").stdout
    assert invoke("schedule", "list", "-o", "name").stdout.split() == ["yearly"]
    go.touch()
    assert server.wait("runs")["status"]["phase"] == "Succeeded"
    assert server.lines("runs") == ["one", "two"]
    assert server.wait("done")["status"]["phase"] == "Succeeded"


def test_damage_that_a_running_server_meets_is_named_and_mended_by_the_next(
    server: RunningServer,
) -> None:
    server.submit(jobset("done", "true"))
    server.wait("done")
    with contextlib.closing(sqlite3.connect(server.home / "trainway.db")) as other:
        other.execute("UPDATE alembic_version SET version_num = version_num")
        other.commit()  # so that the server must read everything again
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # and from the file itself
    harm(server)
    refused = server.request("GET", "/jobs?limit=1000")
    assert refused.status == 503, refused.body
    assert refused.body["error"]["code"] == "database"
    assert f"{server.home}/trainway.db is damaged" in refused.body["error"]["message"]
    assert "trainway server check" in refused.body["error"]["hint"]
    assert not list(server.home.glob("trainway.db.damaged-*"))
    server.stop()
    server.start()
    assert [job["metadata"]["name"] for job in server.jobs()] == ["done"]


def test_a_backup_is_made_and_restored(server: RunningServer, tmp_path: Path) -> None:
    server.submit(jobset("kept", "true"))
    server.wait("kept")
    copy = tmp_path / "copy.db"
    assert f"{copy} is a copy of" in invoke("server", "backup", str(copy)).stderr
    refused = invoke("server", "backup", str(copy), code=1).stderr
    assert refused == f"error: {copy} already exists\nhint: use --force to replace it\n"
    invoke("server", "backup", str(copy), "--force")
    server.submit(jobset("later", "true"))
    server.wait("later")
    refused = invoke("server", "restore", str(copy), code=1).stderr
    assert f"error: a server is running in {server.home}\nhint: run trainway server stop" in refused
    server.stop()
    (tmp_path / "text").write_text("no database" * 999)
    refused = invoke("server", "restore", str(tmp_path / "text"), code=2).stderr
    assert "is not a complete database" in refused
    assert "does not exist" in invoke("server", "restore", str(tmp_path / "none"), code=3).stderr

    assert "the previous database is kept as" in invoke("server", "restore", str(copy)).stderr
    found = json.loads(invoke("server", "check", "-o", "json").stdout)
    assert (found["counts"]["jobs"], len(found["directoriesWithoutRecord"])) == (1, 1)
    server.start()
    assert sorted(job["metadata"]["name"] for job in server.jobs()) == ["kept", "later"]
    server.wait("later")


def test_upkeep_says_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path))
    refused = invoke("server", "check", code=3).stderr
    assert refused.startswith(f"error: there is no database {tmp_path}/trainway.db\n")
    monkeypatch.setenv("TRAINWAY_SERVER", "http://elsewhere:8470")
    assert "whose database is on its own machine" in invoke("server", "check", code=2).stderr


def test_upkeep_is_a_process_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trainway.server.upkeep", "--home", str(tmp_path), "check"]
    done = subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "not_found"
