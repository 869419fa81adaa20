import pytest

from trainway.errors import UsageError
from trainway.kube.forwarding import Forward


@pytest.mark.parametrize(
    ("text", "forward"),
    [
        ("8080", Forward(8080, 8080)),
        ("8080:80", Forward(8080, 80)),
        (":80", Forward(0, 80)),
        ("0:80", Forward(0, 80)),
    ],
)
def test_ports(text: str, forward: Forward) -> None:
    assert Forward.parse(text) == forward


@pytest.mark.parametrize("text", ["", "a", "80:", "80:a", "80:0", "0", "65536", "1:2:3", "-1"])
def test_what_is_no_port(text: str) -> None:
    with pytest.raises(UsageError, match="not a port"):
        Forward.parse(text)
