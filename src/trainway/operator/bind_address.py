"""Where a server listens, as Go programs are told it: `:8443`, `127.0.0.1:8080`, or `0` for off."""

from dataclasses import dataclass

_HIGHEST_PORT = 65535


@dataclass(frozen=True)
class BindAddress:
    """A host, where empty means all addresses, and a port, where 0 means any."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_bind_address(text: str) -> BindAddress | None:
    """The address, or None where nothing should listen; a text that is neither is a ValueError."""
    if text in ("", "0"):
        return None
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    number = int(port) if port.isascii() and port.isdecimal() else -1
    if not colon or not 0 <= number <= _HIGHEST_PORT or (":" in host and text[0] != "["):
        raise ValueError(f"{text!r} is neither HOST:PORT nor :PORT nor 0")
    return BindAddress(host, number)
