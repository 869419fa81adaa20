from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from trainway.agent.transfer.frame_faults import fault_of

FRAME: dict[str, str] = {}


@dataclass(frozen=True)
class Case:
    id: str
    action: Callable[[], object]
    sentence: str


@pytest.mark.parametrize(
    "case",
    [
        Case("a file", lambda: os.stat("/no/such"), "No such file or directory: /no/such"),
        Case("a field", lambda: FRAME["id"], "'id' is missing"),
        Case("data", lambda: base64.b64decode("a"), "not Base64: Invalid base64-encoded string"),
        Case("a value", lambda: int("x"), "invalid literal for int() with base 10: 'x'"),
    ],
    ids=lambda case: case.id,
)
def test_what_is_wrong_is_a_sentence(case: Case) -> None:
    with pytest.raises((OSError, KeyError, ValueError)) as caught:
        case.action()
    assert fault_of(caught.value).startswith(case.sentence)
