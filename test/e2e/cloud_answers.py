"""What a server says of clouds where some are used: for pages, since tests have no account."""

from typing import Any, Final

from playwright.sync_api import Page

HOSTILE: Final = "<img src=x onerror=alert(1)>"
PLACE: Final = {"cloud": "aws", "region": "us-east-1", "zone": "us-east-1a", "spot": True}
_NO_CREDENTIALS: Final = {
    "usable": False, "account": "", "user": "", "source": "", "regions": [], "missing": {},
}  # fmt: skip
CLOUDS: Final[list[dict[str, Any]]] = [
    {
        "name": "aws", "usable": True, "account": "123456789012", "user": "arn:aws:iam::1:user/me",
        "source": "~/.aws/credentials", "regions": [f"eu-west-{each}" for each in range(17)],
        "problem": "", "hint": "", "missing": {},
    },
    {
        "name": "gcp", "usable": True, "account": "my-project", "user": "me@example.com",
        "source": "GOOGLE_APPLICATION_CREDENTIALS", "regions": ["us-central1"],
        "problem": "", "hint": "",
        "missing": {"quota": "quotas of Google Cloud are not asked for"},
    },
    {
        **_NO_CREDENTIALS, "name": "lambda", "problem": "lambda: there is no key",
        "hint": "set LAMBDA_API_KEY",
    },
]  # fmt: skip
RENTED: Final[dict[str, Any]] = {
    "items": [
        {
            **PLACE, "cluster": "dev", "instanceType": "p5.48xlarge", "reservation": "", "nodes": 2,
            "state": "RUNNING", "hourlyPrice": 31.5, "message": "", "since": "2026-11-18T10:00:00Z",
        },
        {
            **PLACE, "cluster": "nightly-0", "instanceType": "g5.xlarge", "reservation": "cr-1",
            "spot": False, "nodes": 1, "state": "STOPPED", "hourlyPrice": 0, "message": HOSTILE,
            "since": "2026-11-18T09:00:00Z",
        },
        {
            "cluster": "sweep-3", "cloud": "", "region": "", "zone": "", "instanceType": "",
            "spot": False, "reservation": "", "nodes": 1, "state": "PLANNED", "hourlyPrice": 0,
            "message": "", "since": "2026-11-18T11:00:00Z",
        },
    ],
    "refusals": [
        {
            **PLACE, "instanceType": "p4d.24xlarge", "at": "2026-11-18T08:00:00Z",
            "error": "aws: there is no room for 2 p4d.24xlarge in us-east-1a",
        }
    ],
}  # fmt: skip


def answer_for_clouds(page: Page) -> None:
    """Let a page be told this instead of what the server says."""
    page.route("**/api/v1/clouds", lambda route: route.fulfill(json={"items": CLOUDS}))
    page.route("**/api/v1/clouds/rented", lambda route: route.fulfill(json=RENTED))
