import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from trainway.data.selection import select
from trainway.data.transfer import Options, Wanted, fetch
from trainway.data.uri import parse
from trainway.data.web import WebFiles
from trainway.errors import ForbiddenError, NotFoundError, UnavailableError, UnreadableError

CONTENT = bytes(range(256)) * 10


class Site(BaseHTTPRequestHandler):
    """Has a file with ranges, one without, one that fails once, and one that is forbidden."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path.startswith(("/ranged", "/flaky")):
            is_failing = self.path == "/flaky" and len(self.asked) == 1
            self._part() if not is_failing else self._say(503)
        elif self.path == "/plain":
            self._say(200, CONTENT)
        elif self.path.startswith("/to/"):
            self._lead(self.path.removeprefix("/to/"))
        elif self.path == "/long":
            self._tell("9" * 5000)
        else:
            self._say(403 if self.path == "/secret" else 404)

    def _part(self) -> None:
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        piece = CONTENT[first : last + 1]
        self._say(206, piece, f"bytes {first}-{last}/{len(CONTENT)}")

    def _say(self, status: int, body: bytes = b"", content_range: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"1"')
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        self.wfile.write(body)

    def _lead(self, place: str) -> None:
        self.send_response(302)
        self.send_header("Location", place)
        self.end_headers()

    def _tell(self, length: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", length)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


@pytest.fixture
def root() -> Iterator[str]:
    Site.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def opened(root: str, uri: str) -> WebFiles:
    return WebFiles(parse(uri), root)


@pytest.mark.parametrize("path", ["ranged", "plain", "flaky"])
def test_a_file_of_a_web_server_arrives(root: str, path: str, tmp_path: Path) -> None:
    uri = f"https://host/{path}"
    source = opened(root, uri)
    (one,) = select(source, parse(uri)).files

    fetch([Wanted(source, one.entry, uri, tmp_path / "x")], Options(workers=2, part_size=1000))

    assert (tmp_path / "x").read_bytes() == CONTENT


def test_what_stands_behind_the_question_mark_is_sent_and_not_told(root: str) -> None:
    source = opened(root, "https://host/ranged?sig=SECRET")
    assert source.stat("ranged") is not None
    assert Site.asked == ["/ranged?sig=SECRET"]

    with pytest.raises(ForbiddenError) as raised:
        opened(root, "https://host/secret").stat("secret")
    assert "SECRET" not in raised.value.sentence


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("ftp://127.0.0.1:9/x", "leads to a place that is not of the web"),
        ("http://169.254.169.254/latest/meta-data/", "is for this machine alone"),
        ("http://[fd00:ec2::254]/latest/meta-data/", "is for this machine alone"),
        ("http://2852039166/latest/meta-data/", "is for this machine alone"),
        ("file:///etc/passwd", "its server answered 302"),
    ],
)
def test_a_server_leads_nowhere_but_to_others_of_the_web(root: str, place: str, said: str) -> None:
    with pytest.raises(UnavailableError, match=said):
        opened(root, "https://host/x").stat(f"to/{place}")


def test_a_length_that_no_file_has_is_one_error(root: str) -> None:
    with pytest.raises(UnreadableError, match="does not tell its length"):
        opened(root, "https://host/long").stat("long")


def test_what_is_not_there_is_told(root: str) -> None:
    with pytest.raises(NotFoundError):
        select(opened(root, "https://host/no"), parse("https://host/no"))


def test_a_server_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainway.data.web._PAUSES_S", ())

    with pytest.raises(UnavailableError, match="cannot be reached"):
        opened("http://127.0.0.1:9", "https://host/a").stat("a")
