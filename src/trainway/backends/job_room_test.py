from pathlib import Path

from trainway.backends.job_room import room_of


def test_files_count_and_what_links_lead_to_does_not(tmp_path: Path) -> None:
    job, other = tmp_path / "job", tmp_path / "other"
    (job / "output" / "deep").mkdir(parents=True)
    empty = room_of(job)
    other.write_bytes(b"x" * 1_000_000)
    (job / "link").symlink_to(other)
    (job / "folder").symlink_to(tmp_path)
    assert room_of(job) - empty < 50_000
    (job / "output" / "deep" / "model").write_bytes(b"x" * 100_000)
    assert 100_000 <= room_of(job) - empty < 200_000
    assert room_of(tmp_path / "gone") == 0
