"""What the page Settings asks for: who is logged in, and what the server is."""

from pathlib import Path

from starlette.types import Receive, Scope, Send

from trainway.server.testing_site import Site, play
from trainway.server.web.access import SECRET

HOST = "127.0.0.1:4000"


def as_browser(site: Site, secret: str) -> None:
    """Ask as the browser of that session from now on."""

    async def logged_in(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {SECRET: secret}
        await site.app(scope, receive, send)

    site.entry = logged_in


def test_sessions_are_listed_and_ended(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        sessions = site.web.sessions
        mine = sessions.begin(HOST, "127.0.0.1", "Firefox")
        others = [sessions.begin(HOST, "10.0.0.7", "<b>") for _ in range(3)]
        as_browser(site, mine)
        status, answer = await site.ask("GET", "/dashboard/sessions")
        assert status == 200
        shown = {item["id"]: item for item in answer["items"]}
        assert len(shown) == 4
        (me,) = [item for item in answer["items"] if item["current"]]
        assert (me["address"], me["agent"], me["host"]) == ("127.0.0.1", "Firefox", HOST)
        text = str(answer)
        assert not any(secret in text for secret in (mine, *others))
        other = next(id_ for id_ in shown if id_ != me["id"])
        assert (await site.ask("DELETE", f"/dashboard/sessions/{other}"))[0] == 200
        status, answer = await site.ask("DELETE", f"/dashboard/sessions/{other}")
        assert (status, answer["error"]["code"]) == (404, "not_found")
        link = site.web.codes.make("")
        _, answer = await site.ask("DELETE", f"/dashboard/sessions?keep={me['id']}")
        assert answer == {"sessions": 2}
        assert sessions.find(mine, HOST) is not None
        assert not any(sessions.find(secret, HOST) for secret in others)
        assert not site.web.codes.use(link, "")
        assert (await site.ask("DELETE", "/dashboard/sessions"))[1] == {"sessions": 1}

    play(tmp_path, scene)


def test_the_server_says_what_it_is(tmp_path: Path) -> None:
    async def scene(site: Site) -> None:
        _, found = await site.ask("GET", "/server")
        assert (found["home"], found["database"]) == (str(tmp_path), "sqlite")
        assert found["token"] == {"file": str(tmp_path / "token"), "given": False}

    play(tmp_path, scene)
