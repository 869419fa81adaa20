import gzip
from pathlib import Path

import pytest

from trainway.server.tokens import write_new_token
from trainway.server.web import codes, throttle
from trainway.server.web.paths import ROOT, local_goal
from trainway.server.web.testing import OWN_PAGE, WINDOW, Browsing

LOGIN = "/dashboard/login"
FORM = {**OWN_PAGE, "Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def site(tmp_path: Path) -> Browsing:
    return Browsing(tmp_path)


def test_a_link_logs_in_once(site: Browsing) -> None:
    link = site.link()
    reply = site.ask("GET", link, WINDOW)
    assert (reply.status, reply.headers["location"]) == (303, ROOT)
    name, *rest = reply.headers["set-cookie"].split("; ")
    assert name.startswith("trainway-session-4000=")
    assert set(rest) == {"HttpOnly", "Max-Age=604800", "Path=/", "SameSite=strict"}
    assert site.ask("GET", "/api/v1/jobs", OWN_PAGE, reply.cookie).status == 200

    again = site.ask("GET", link, WINDOW)
    assert again.status == 403
    assert "set-cookie" not in again.headers
    assert b"The link has been used or is too old." in again.body


def test_a_link_is_for_a_while(site: Browsing) -> None:
    link = site.link()
    site.now += codes.LIFE_S + 1
    assert site.ask("GET", link, WINDOW).status == 403


def test_whoever_only_looks_at_a_link_does_not_use_it(site: Browsing) -> None:
    link = site.link()
    assert site.ask("HEAD", link, WINDOW).status == 200
    assert site.ask("GET", link, WINDOW).status == 303


def test_a_link_ends_with_the_token_and_when_all_are_logged_out(site: Browsing) -> None:
    link = site.link()
    write_new_token(site.home / "token")
    assert site.ask("GET", link, WINDOW).status == 403
    link = site.link()
    site.web.end_sessions()
    assert site.ask("GET", link, WINDOW).status == 403


def test_a_link_through_tls_makes_a_cookie_that_is_only_for_tls(site: Browsing) -> None:
    reply = site.ask("GET", site.link() + "&secure=1", WINDOW)
    assert "Secure" in reply.headers["set-cookie"].split("; ")


def test_the_token_logs_in(site: Browsing) -> None:
    token = write_new_token(site.home / "token")
    assert b'type="password"' in site.ask("GET", LOGIN, WINDOW).body
    body = f"token={token}&next=/dashboard/jobs".encode()
    reply = site.ask("POST", LOGIN, FORM, body=body)
    assert (reply.status, reply.headers["location"]) == (303, "/dashboard/jobs")
    assert site.ask("GET", "/api/v1/jobs", OWN_PAGE, reply.cookie).status == 200


def test_without_a_token_only_a_link_logs_in(site: Browsing) -> None:
    assert b"password" not in site.ask("GET", LOGIN, WINDOW).body
    assert site.ask("POST", LOGIN, FORM, body=b"token=").status == 403


def test_wrong_tokens_are_few(site: Browsing) -> None:
    token = write_new_token(site.home / "token")
    for _ in range(throttle.MOST_FAILURES):
        assert site.ask("POST", LOGIN, FORM, body=b"token=wrong").status == 403
    late = site.ask("POST", LOGIN, FORM, body=f"token={token}".encode())
    assert (late.status, late.headers["retry-after"]) == (429, "60")
    site.now += throttle.WINDOW_S + 1
    assert site.ask("POST", LOGIN, FORM, body=f"token={token}".encode()).status == 303


def test_a_page_of_another_name_does_not_lock_the_owner_out(site: Browsing) -> None:
    network = Browsing(site.home / "network", hosts=frozenset())
    good = f"token={write_new_token(network.home / 'token')}".encode()
    ours, theirs = "192.0.2.1:4000", "evil.example:4000"

    def tried(host: str, body: bytes = b"token=wrong") -> int:
        return network.ask("POST", LOGIN, FORM, body=body, host=host).status

    attempts = throttle.MOST_FAILURES * 2
    refused = [tried(f"{number}.{theirs}") for number in range(attempts)]
    wrong = throttle.MOST_BY_OTHER_NAMES
    assert refused == [403] * wrong + [429] * (attempts - wrong)
    assert tried(theirs, good) == 429
    assert tried(ours, good) == 303
    left = throttle.MOST_FAILURES - wrong
    assert [tried(ours) for _ in range(left + 1)] == [403] * left + [429]


def test_a_name_is_trusted_under_which_somebody_is_logged_in(site: Browsing) -> None:
    network = Browsing(site.home / "network", hosts=frozenset())
    write_new_token(network.home / "token")
    network.log_in("gpu.example:4000")
    answers = [
        network.ask("POST", LOGIN, FORM, body=b"token=wrong", host=host).status
        for host in ["evil.example:4000"] * 3 + ["gpu.example:4000"]
    ]
    assert answers == [403, 403, 429, 403]


def test_who_has_to_wait_is_told_the_other_way_in(site: Browsing) -> None:
    write_new_token(site.home / "token")
    for _ in range(throttle.MOST_FAILURES):
        site.ask("POST", LOGIN, FORM, body=b"token=wrong")
    late = site.ask("POST", LOGIN, FORM, body=b"token=wrong")
    assert b"Wait 60 seconds, or open a link that trainway dashboard prints" in late.body
    assert site.ask("GET", site.link(), WINDOW).status == 303


def test_a_form_that_is_too_large_is_refused(site: Browsing) -> None:
    assert site.ask("POST", LOGIN, FORM, body=b"token=" + b"x" * 20_000).status == 413
    assert site.ask("POST", LOGIN, FORM, body=b"&".join([b"a=1"] * 50)).status == 400


@pytest.mark.parametrize(
    "path",
    ["https://evil.example/", "//evil.example/", "/dashboard", "/api/v1/jobs", "/dashboard/\\x"],
)
def test_only_the_dashboard_is_gone_to(path: str) -> None:
    assert local_goal(path) == ROOT


def test_what_was_wanted_is_shown_as_text(site: Browsing) -> None:
    write_new_token(site.home / "token")
    reply = site.ask("GET", LOGIN + '?next=/dashboard/"><script>', WINDOW)
    assert b"<script>" not in reply.body


def test_pages_may_do_only_what_they_need(site: Browsing) -> None:
    headers = site.ask("GET", ROOT, WINDOW, site.log_in()).headers
    rules = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_assets_are_kept_and_the_page_is_not(site: Browsing) -> None:
    asset = site.ask("GET", "/dashboard/assets/main-1a2b.js", OWN_PAGE)
    assert asset.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert asset.headers["content-type"] == "text/javascript; charset=utf-8"
    page = site.ask("GET", "/dashboard/jobs/x", WINDOW, site.log_in())
    assert page.headers["cache-control"] == "no-cache"
    assert page.body == b"<title>Trainway</title>"
    known = {**WINDOW, "If-None-Match": page.headers["etag"]}
    assert site.ask("GET", ROOT, known, site.log_in()).status == 304


def test_files_are_compressed(site: Browsing) -> None:
    headers = {**OWN_PAGE, "Accept-Encoding": "gzip, br"}
    reply = site.ask("GET", "/dashboard/assets/main-1a2b.js", headers)
    assert reply.headers["content-encoding"] == "gzip"
    assert gzip.decompress(reply.body) == b"let jobs = 1;\n" * 100
    assert len(reply.body) < 100


@pytest.mark.parametrize(
    "name", ["assets/other.js", "assets/../../secret.txt", "assets//etc/passwd"]
)
def test_there_are_no_other_files(name: str, site: Browsing) -> None:
    assert site.ask("GET", f"/dashboard/{name}", OWN_PAGE, site.log_in()).status == 404


def test_a_path_out_of_the_folder_is_a_place_in_the_page(site: Browsing) -> None:
    reply = site.ask("GET", "/dashboard/../secret.txt", WINDOW, site.log_in())
    assert reply.body == b"<title>Trainway</title>"


def test_what_is_not_built_says_how_to_build_it(site: Browsing) -> None:
    (site.home / "built" / "index.html").unlink()
    reply = site.ask("GET", ROOT, WINDOW, site.log_in())
    assert reply.status == 503
    assert b"make dashboard" in reply.body
