import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.server.tokens import write_new_token
from trainway.server.web.access import CSRF_HEADER
from trainway.server.web.sessions import LIFE_S, csrf_token
from trainway.server.web.testing import HOST, OWN_PAGE, WINDOW, Browsing

JOBS = "/api/v1/jobs"
SESSION = "/dashboard/session"


@pytest.fixture
def site(tmp_path: Path) -> Browsing:
    return Browsing(tmp_path)


@dataclass(frozen=True)
class Case:
    name: str
    status: int
    path: str = JOBS
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    host: str = HOST
    is_logged_in: bool = True


CROSS = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
FOLLOWED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
CASES = [
    Case("a page reads", 200, headers=OWN_PAGE),
    Case("nobody is logged in", 401, headers=OWN_PAGE, is_logged_in=False),
    Case("a page of another site reads", 403, headers=CROSS),
    Case("a page of another port reads", 403, headers={"Sec-Fetch-Site": "same-site"}),
    Case("an old browser on another page", 403, headers={"Origin": "http://evil.example"}),
    Case("an origin of nobody", 403, headers={"Origin": "null"}),
    Case("a link to the API from another site", 403, headers=FOLLOWED),
    Case("a change without the CSRF token", 403, method="POST", headers=OWN_PAGE),
    Case("a wrong one", 403, method="POST", headers={**OWN_PAGE, CSRF_HEADER: "0" * 64}),
    Case("one that is no text", 403, method="POST", headers={**OWN_PAGE, CSRF_HEADER: "\xe4"}),
    Case("another name of the server", 403, headers=OWN_PAGE, host="evil.example:4000"),
    Case("another port in its name", 403, headers=OWN_PAGE, host="127.0.0.1:4001"),
    Case("no name", 403, headers=OWN_PAGE, host=""),
    Case("its other name, for which there is no cookie", 401, host="localhost:4000"),
    Case("what pages need to know", 200, SESSION, headers=OWN_PAGE),
    Case("which is not for strangers", 401, SESSION, headers=OWN_PAGE, is_logged_in=False),
    Case("nor for other sites", 403, SESSION, headers=CROSS),
    Case("nor in a window of theirs", 403, SESSION, headers=FOLLOWED),
    Case("the page", 200, "/dashboard/", headers=WINDOW),
    Case("a place in it", 200, "/dashboard/jobs/x", headers=WINDOW),
    Case("without its slash", 308, "/dashboard", headers=WINDOW),
    Case("somebody who has to log in", 303, "/dashboard/", headers=WINDOW, is_logged_in=False),
    Case("a link from another site", 200, "/dashboard/jobs/x", headers=FOLLOWED),
    Case("a page of another site reads the page", 403, "/dashboard/", headers=CROSS),
    Case(
        "a page of another site in a frame",
        403,
        "/dashboard/",
        headers={**FOLLOWED, "Sec-Fetch-Dest": "iframe"},
    ),
    Case("a form of another site", 403, "/dashboard/login", "POST", headers=FOLLOWED),
    Case("health", 404, "/api/v1/health", is_logged_in=False),
    Case("logging out needs the CSRF token", 403, "/dashboard/logout", "POST", headers=OWN_PAGE),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_who_comes_in(case: Case, site: Browsing) -> None:
    secret = site.log_in() if case.is_logged_in else ""
    reply = site.ask(case.method, case.path, case.headers, secret, host=case.host)
    assert reply.status == case.status, reply.body


def test_a_change_needs_the_csrf_token_of_the_very_session(site: Browsing) -> None:
    secret, other = site.log_in(), site.log_in()
    assert site.change(secret).status == 200
    refused = site.change(secret, **{CSRF_HEADER: csrf_token(other)})
    assert refused.status == 403
    assert json.loads(refused.body)["error"]["code"] == "csrf"


def test_a_page_learns_its_csrf_token(site: Browsing) -> None:
    secret = site.log_in()
    reply = site.ask("GET", SESSION, OWN_PAGE, secret)
    shown = json.loads(reply.body)
    assert shown["csrf"] == csrf_token(secret)
    assert secret not in reply.body.decode()
    assert reply.headers["cache-control"] == "no-store"


def test_a_session_ends_with_its_time(site: Browsing) -> None:
    secret = site.log_in()
    site.now += LIFE_S - 1
    assert site.ask("GET", JOBS, OWN_PAGE, secret).status == 200
    site.now += 2
    assert site.ask("GET", JOBS, OWN_PAGE, secret).status == 401


def test_a_session_ends_with_the_token(site: Browsing) -> None:
    secret = site.log_in()
    write_new_token(site.home / "token")
    assert site.ask("GET", JOBS, OWN_PAGE, secret).status == 401


def test_who_is_being_answered_is_cut_off_with_the_session(site: Browsing) -> None:
    secret = site.log_in()
    site.during = lambda: site.web.sessions.end(secret)
    assert site.ask("GET", JOBS, OWN_PAGE, secret).status == 0
    assert site.aborted


def test_logging_out_ends_the_session(site: Browsing) -> None:
    secret = site.log_in()
    headers = {**OWN_PAGE, CSRF_HEADER: csrf_token(secret)}
    reply = site.ask("POST", "/dashboard/logout", headers, secret)
    assert reply.status == 200
    assert "Max-Age=0" in reply.headers["set-cookie"]
    assert site.ask("GET", JOBS, OWN_PAGE, secret).status == 401


def test_a_token_still_comes_in_and_needs_no_csrf_token(site: Browsing) -> None:
    token = write_new_token(site.home / "token")
    headers = {"Authorization": f"Bearer {token}"}
    assert site.ask("POST", JOBS, headers).status == 200
    assert site.ask("POST", JOBS, {"Authorization": "Bearer no"}, site.log_in()).status == 401


def test_after_logging_in_one_goes_where_one_wanted(site: Browsing) -> None:
    reply = site.ask("GET", "/dashboard/jobs?phase=Failed&name=a", WINDOW)
    assert reply.status == 303
    wanted = "/dashboard/login?next=/dashboard/jobs%3Fphase%3DFailed%26name%3Da"
    assert reply.headers["location"] == wanted


def test_a_server_on_the_network_may_be_called_anything(tmp_path: Path) -> None:
    site = Browsing(tmp_path, frozenset())
    secret = site.log_in("train.example")
    assert site.ask("GET", JOBS, OWN_PAGE, secret, host="train.example").status == 200
    assert site.ask("GET", JOBS, OWN_PAGE, secret, host="other.example").status == 401
