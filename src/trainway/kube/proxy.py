"""The proxy of the environment: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as Go programs read them.

Python's own reading knows no networks in NO_PROXY, and clusters are named by address often.
"""

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit


def proxy_for(url: str, environ: Mapping[str, str]) -> str:
    """The proxy to reach a URL through; empty: none."""
    parts = urlsplit(url)
    name = f"{parts.scheme}_proxy"
    proxy = environ.get(name) or environ.get(name.upper()) or ""
    exceptions = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    host = parts.hostname or ""
    if not proxy or host == "localhost" or is_excepted(host, exceptions):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


def is_excepted(host: str, exceptions: str) -> bool:
    """Whether NO_PROXY has the host, a domain above it, or a network it is in."""
    address = _address(host)
    if address is not None and address.is_loopback:
        return True
    for entry in (entry.strip().lower() for entry in exceptions.split(",")):
        if entry == "*":
            return True
        if not entry:
            continue
        if address is None:
            domain = entry.removeprefix("*").removeprefix(".")
            if host == domain or host.endswith(f".{domain}"):
                return True
        elif _is_inside(address, entry):
            return True
    return False


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_inside(address: ipaddress.IPv4Address | ipaddress.IPv6Address, network: str) -> bool:
    try:
        return address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
