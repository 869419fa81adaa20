from pathlib import Path

from trainway.backends.agents.journal import exists, read


def test_only_whole_records_after_a_number_count(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"seq": 0}\n{"seq": 1}\nnonsense\n[1]\n{"seq": 2, "type": "end"}\n{"seq": 3')
    assert [record["seq"] for record in read(path, -1)] == [0, 1, 2]
    assert [record["seq"] for record in read(path, 1)] == [2]


def test_there_may_be_none_yet(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    assert list(read(path, -1)) == []
    assert not exists(path)
    path.touch()
    assert not exists(path)
    path.write_text("x")
    assert exists(path)
