import socket
from dataclasses import dataclass

import pytest

from trainway.server.web.names import is_known_name


@dataclass(frozen=True)
class Case:
    host: str
    is_known: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("127.0.0.1:8600", is_known=True),
        Case("10.0.0.5", is_known=True),
        Case("[::1]:8600", is_known=True),
        Case("localhost:8600", is_known=True),
        Case("LocalHost", is_known=True),
        Case(f"{socket.gethostname()}:8600", is_known=True),
        Case("gpu.example:8600", is_known=True),
        Case("gpu.example:8601", is_known=False),
        Case("evil.example:8600", is_known=False),
        Case("127.0.0.1.evil.example:8600", is_known=False),
        Case("[evil.example", is_known=False),
        Case("", is_known=False),
    ],
    ids=lambda case: case.host or "nothing",
)
def test_what_is_no_name_of_another_site(case: Case) -> None:
    assert is_known_name(case.host, {"gpu.example:8600"}) is case.is_known
