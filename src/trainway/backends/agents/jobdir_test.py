import fcntl
import stat
from pathlib import Path

from trainway.backends.agents.jobdir import JobDir, write_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_is_for_the_owner_alone(tmp_path: Path) -> None:
    job = JobDir(tmp_path / "job")
    job.create()
    job.create()
    write_private(job.plan, b"one")
    write_private(job.plan, b"two", is_durable=True)
    assert job.plan.read_bytes() == b"two"
    assert (mode(job.path), mode(job.plan)) == (0o700, 0o600)
    assert sorted(path.name for path in job.path.iterdir()) == [
        "logs", "output", "plan.json", "status",
    ]  # fmt: skip


def test_removing_takes_also_what_the_job_made_read_only(tmp_path: Path) -> None:
    job = JobDir(tmp_path / "job")
    job.create()
    kept = job.output / "kept"
    kept.mkdir()
    (kept / "file").touch()
    kept.chmod(0o500)
    job.remove()
    assert not job.path.exists()
    job.remove()


def test_the_lock_of_an_agent_is_seen(tmp_path: Path) -> None:
    job = JobDir(tmp_path)
    assert not job.is_locked()
    with (tmp_path / "agent.lock").open("w") as lock:
        assert not job.is_locked()
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert job.is_locked()
    assert not job.is_locked()
