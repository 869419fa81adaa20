from dataclasses import dataclass

import pytest

from trainway.agent.base.journal_reader import object_in, record_in, records_in


@dataclass(frozen=True)
class Case:
    name: str
    line: bytes
    is_object: bool
    is_record: bool


CASES = [
    Case("a record", b'{"seq": 0, "type": "end"}\n', True, True),
    Case("an object without a number", b'{"type": "job"}\n', True, False),
    Case("a number that is text", b'{"seq": "1"}\n', True, False),
    Case("no object", b"[1]\n", False, False),
    Case("cut off", b'{"seq": 1, "ty', False, False),
    Case("not UTF-8", b'{"seq": 1, "a": "\xff"}\n', False, False),
    Case("empty", b"\n", False, False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_line(case: Case) -> None:
    assert (object_in(case.line) is not None) == case.is_object
    assert (record_in(case.line) is not None) == case.is_record


def test_only_whole_lines_count() -> None:
    data = b'{"seq": 0}\nnoise\n{"seq": 1}\n{"seq": 2}'
    assert records_in(data) == ([{"seq": 0}, {"seq": 1}], len(data) - len(b'{"seq": 2}'))
    assert records_in(b'{"seq": 0}') == ([], 0)
    assert records_in(b"") == ([], 0)
