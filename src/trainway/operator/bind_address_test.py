import pytest

from trainway.operator.bind_address import BindAddress, parse_bind_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        (":8443", "", 8443),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("localhost:80", "localhost", 80),
        ("[::1]:8081", "::1", 8081),
    ],
)
def test_addresses(text: str, host: str, port: int) -> None:
    assert parse_bind_address(text) == BindAddress(host, port)
    assert str(BindAddress(host, port)) == text


@pytest.mark.parametrize("text", ["", "0"])
def test_off(text: str) -> None:
    assert parse_bind_address(text) is None


@pytest.mark.parametrize("text", ["8443", "host", ":", ":http", ":70000", "::1:80", ":-1"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="is neither"):
        parse_bind_address(text)
