"""What the answers of the dashboard forbid a browser: everything that its pages do not need."""

from collections.abc import Mapping
from typing import Final

_NOTHING: Final = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_OF_PAGES: Final = {
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "worker-src": "'self'",
    "manifest-src": "'self'",
}
_OTHERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


def policy(more: Mapping[str, str]) -> str:
    """A Content-Security-Policy that allows nothing but this."""
    return "; ".join(f"{name} {sources}" for name, sources in {**_NOTHING, **more}.items())


def security_headers(more: Mapping[str, str] = _OF_PAGES) -> dict[str, str]:
    """The headers of an answer; what its page may use is that of the dashboard, or given."""
    return {"Content-Security-Policy": policy(more), **_OTHERS}
