"""The pages that need no dashboard: how to log in, and how to build it. Plain HTML, no scripts."""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from typing import Final

from starlette.responses import HTMLResponse

from trainway.server.web.headers import security_headers

_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1.5rem}"
    "input,button{font:inherit;padding:.4rem .6rem}input{width:100%;box-sizing:border-box}"
    "button{margin-top:1rem}[role=alert]{font-weight:600}"
)
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_OF_PAGES: Final = {"style-src": f"'sha256-{_STYLE_HASH}'", "form-action": "'self'"}
_LINK: Final = (
    "<p>On the machine of the server, run <code>trainway dashboard</code>. It opens a link that "
    "logs this browser in.</p>"
)
_FORM: Final = (
    '<form method="post" action="{action}"><p><label for="token">Or log in with the token of the '
    "server, which <code>trainway server token show</code> prints:</label></p>"
    '<input type="password" id="token" name="token" autocomplete="current-password" required '
    'maxlength="4096"><input type="hidden" name="next" value="{next}">'
    '<button type="submit">Log in</button></form>'
)


def login_page(
    action: str, goal: str, *, has_token: bool, problem: str = "", status: int = 200
) -> HTMLResponse:
    """How to log in; `goal` is where to go after that."""
    alert = f'<p role="alert">{escape(problem)}</p>' if problem else ""
    form = _FORM.format(action=escape(action), next=escape(goal)) if has_token else ""
    return _page("Log in to Trainway", f"{alert}{_LINK}{form}", status)


def unbuilt_page() -> HTMLResponse:
    """What there is without a dashboard, and how to build one."""
    return _page(
        "The dashboard is not built",
        "<p>This installation of Trainway comes from its source code, without the files of the "
        "dashboard. In the repository, run <code>make dashboard</code>, then load this page "
        "again. The API is at <a href='/api/v1/docs'>/api/v1/docs</a>.</p>",
        503,
    )


def _page(title: str, body: str, status: int, more: Mapping[str, str] = {}) -> HTMLResponse:
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><main><h1>{title}</h1>{body}</main></body></html>"
    )
    headers = {**security_headers(_OF_PAGES), "Cache-Control": "no-store", **more}
    return HTMLResponse(text, status, headers=headers)
