import json
import socket
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.errors import UsageError
from trainway.sdk.address import Address, Home, configured_address, is_loopback, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://host:8080", Address("", "host", 8080)),
        ("http://host:8080/", Address("", "host", 8080)),
        ("http://host", Address("", "host", 80)),
        ("https://host", Address("", "host", 443, is_tls=True)),
        ("http://[::1]:90", Address("", "::1", 90)),
        ("unix:/run/x.sock", Address("/run/x.sock")),
        ("unix:///run/x.sock", Address("/run/x.sock")),
    ],
)
def test_addresses_are_read(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text", ["host:80", "ftp://host", "http://", "unix:", "http://host:x", "http://host/path", "["]
)
def test_what_is_no_address_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError, match="not the address of a server") as caught:
        parse_address(text)
    assert caught.value.hint
    assert "http://HOST:PORT" in caught.value.hint


@pytest.mark.parametrize(
    ("address", "text", "is_here"),
    [
        (Address("/x"), "unix:/x", True),
        (Address("", "localhost", 80), "http://localhost:80", True),
        (Address("", "::1", 80), "http://[::1]:80", True),
        (Address("", "host", 443, is_tls=True), "https://host:443", False),
    ],
)
def test_an_address_says_where_it_is(address: Address, text: str, is_here: bool) -> None:
    assert (str(address), address.is_here) == (text, is_here)


def test_a_token_is_never_shown() -> None:
    assert "secret" not in repr(parse_address("http://host:1", "secret"))


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAINWAY_SERVER", raising=False)
    assert configured_address() is None
    monkeypatch.setenv("TRAINWAY_SERVER", "http://host:1")
    monkeypatch.setenv("TRAINWAY_TOKEN", "secret")
    assert configured_address() == Address("", "host", 1, False, "secret")


def test_home_is_named_or_the_usual_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path))
    assert Home.of_environment() == Home(tmp_path)
    monkeypatch.delenv("TRAINWAY_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert Home.of_environment() == Home(Path("/home/someone/.trainway"))


@pytest.mark.parametrize(
    ("text", "info", "socket"),
    [
        (None, {}, "server.sock"),
        ("{", {}, "server.sock"),
        ("[]", {}, "server.sock"),
        (json.dumps({"socket": "/run/s"}), {"socket": "/run/s"}, "/run/s"),
    ],
)
def test_home_knows_its_last_server(
    text: str | None, info: dict[str, str], socket: str, tmp_path: Path
) -> None:
    home = Home(tmp_path)
    if text is not None:
        (tmp_path / "server.json").write_text(text)
    assert home.server_info() == info
    assert home.address(home.server_info()) == Address(str(tmp_path / socket))


def test_only_an_address_of_this_machine_is_loopback() -> None:
    for host in ("localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1"):
        assert is_loopback(host)
    for host in ("127.evil.com", "127.0.0.1.evil.com", "127.", "127.1", "192.0.2.1", "::", ""):
        assert not is_loopback(host)


@dataclass(frozen=True)
class Case:
    name: str
    server: str
    listen: str = "127.0.0.1:80"
    address: str = "http://127.0.0.1:80"
    token: str = "secret"  # noqa: S105 - of a test
    is_served: bool = True


CASES = [
    Case("as it says", "http://127.0.0.1:80"),
    Case("by its name", "http://localhost:80"),
    Case("on all addresses", "http://localhost:80", "0.0.0.0:80"),
    Case("on all of IPv6", "http://localhost:80", "[::]:80", "http://[::1]:80"),
    Case("on another one", "http://192.0.2.1:80", "192.0.2.1:80", "http://192.0.2.1:80"),
    Case("another port", "http://127.0.0.1:81", address="http://127.0.0.1:81", token=""),
    Case("another address", "http://127.0.0.2:80", address="http://127.0.0.2:80", token=""),
    Case(
        "a name for another one", "http://localhost:80", "192.0.2.1:80", "http://localhost:80", ""
    ),
    Case("something with TLS", "https://127.0.0.1:80", address="https://127.0.0.1:80", token=""),
    Case("a server that was killed", "http://127.0.0.1:80", token="", is_served=False),
    Case("none that listens", "http://127.0.0.1:80", "", token=""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_token_is_for_our_own_server_alone(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path))
    monkeypatch.setenv("TRAINWAY_SERVER", case.server)
    monkeypatch.delenv("TRAINWAY_TOKEN", raising=False)
    (tmp_path / "token").write_text("secret\n")
    (tmp_path / "server.json").write_text(json.dumps({"listen": case.listen}))
    with socket.socket(socket.AF_UNIX) as listener:
        if case.is_served:
            listener.bind(str(tmp_path / "server.sock"))
            listener.listen()
        address = configured_address()
    assert address is not None
    assert (str(address), address.token) == (case.address, case.token)


def test_a_digest_is_no_token_to_show(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("sha256:abc\n")
    assert Home(tmp_path).token() == ""
