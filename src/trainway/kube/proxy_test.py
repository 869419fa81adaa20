from dataclasses import dataclass

import pytest

from trainway.kube.proxy import proxy_for


@dataclass(frozen=True)
class Case:
    name: str
    url: str
    environ: dict[str, str]
    proxy: str


_PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


@pytest.mark.parametrize(
    "case",
    [
        Case("none", "https://k.example:6443", {}, ""),
        Case("by the scheme", "https://k.example:6443", _PROXY, "http://proxy:3128"),
        Case("of the other scheme", "http://k.example", _PROXY, ""),
        Case("small letters win", "https://k", _PROXY | {"https_proxy": "http://b"}, "http://b"),
        Case("without a scheme", "https://k", {"https_proxy": "p:80"}, "http://p:80"),
        Case("loopback", "https://127.0.0.1:6443", _PROXY, ""),
        Case("localhost", "https://localhost:6443", _PROXY, ""),
        Case("excepted", "https://k.example", _PROXY | {"NO_PROXY": "a, k.example"}, ""),
        Case("domain above", "https://k.example", _PROXY | {"NO_PROXY": ".example"}, ""),
        Case(
            "like a domain",
            "https://kexample",
            _PROXY | {"NO_PROXY": "example"},
            "http://proxy:3128",
        ),
        Case("network", "https://10.1.2.3", _PROXY | {"NO_PROXY": "10.0.0.0/8"}, ""),
        Case(
            "other network",
            "https://11.1.2.3",
            _PROXY | {"NO_PROXY": "10.0.0.0/8,x"},
            "http://proxy:3128",
        ),
        Case("address", "https://[fd00::1]:443", _PROXY | {"NO_PROXY": "fd00::1"}, ""),
        Case("everything", "https://k", _PROXY | {"no_proxy": "*"}, ""),
    ],
    ids=lambda case: case.name,
)
def test_proxy(case: Case) -> None:
    assert proxy_for(case.url, case.environ) == case.proxy
