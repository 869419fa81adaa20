import base64
import hashlib
import os
import platform
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import pytest

from trainway.agent.environment import uv_bringing
from trainway.agent.environment.requirements import Requirements
from trainway.agent.environment.shelf import Shelf
from trainway.agent.environment.uv_bringing import (
    NotBroughtError,
    UnreachableError,
    _folder,
    bring,
    brought,
)

TAG = f"musllinux_1_1_{platform.machine()}"
NAME = f"uv-1.2.3-py3-none-{TAG}.whl"


def wheel(program: str = "#!/bin/sh\necho uv 1.2.3\n", member: str = "scripts/uv") -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("uv-1.2.3.dist-info/METADATA", "Name: uv\n")
        archive.writestr(f"uv-1.2.3.data/{member}", program)
    return file.getvalue()


def broken(compression: int) -> bytes:
    """A wheel whose directory is whole, and whose program is not."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("uv-1.2.3.data/scripts/uv", os.urandom(4096))
    content = bytearray(file.getvalue())
    content[100:3000] = b"\xff" * 2900
    return bytes(content)


class Index(BaseHTTPRequestHandler):
    """An index that has uv, behind a password if a test says so."""

    content: ClassVar[bytes] = b""
    sha256: ClassVar[str] = ""
    password: ClassVar[str] = ""
    asked: ClassVar[list[str]] = []
    page: ClassVar[str] = ""
    """What it says instead of its list."""
    is_slow: ClassVar[bool] = False

    def do_GET(self) -> None:
        self.asked.append(self.path)
        words = base64.b64encode(f"me:{self.password}".encode()).decode()
        if self.password and self.headers.get("Authorization") != f"Basic {words}":
            self._answer(401, b"")
        elif self.path == "/simple/uv/" and self.is_slow:
            self._drip()
        elif self.path == "/simple/uv/" and self.page:
            self._answer(200, self.page.encode())
        elif self.path == "/simple/uv/":
            self._answer(200, f'<a href="/files/{NAME}#sha256={self.sha256}">uv</a>'.encode())
        elif self.path == f"/files/{NAME}":
            self._answer(200, self.content)
        else:
            self._answer(404, b"")

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):  # until nobody reads it any more
            while True:
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.01)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _index() -> None:
    offer(wheel())
    Index.password, Index.page, Index.is_slow = "", "", False


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(str(tmp_path / "environments"))
    made.prepare()
    return made


def offer(content: bytes, sha256: str | None = None) -> None:
    Index.content = content
    Index.sha256 = hashlib.sha256(content).hexdigest() if sha256 is None else sha256
    Index.asked = []


def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def index(port: int, user: str = "") -> Requirements:
    return Requirements(f"--index-url http://{user}127.0.0.1:{port}/simple\nsix\n")


def left(shelf: Shelf) -> list[str]:
    folder = Path(_folder(shelf))
    return os.listdir(folder) if folder.exists() else []


def test_uv_is_brought_once(shelf: Shelf, port: int, tmp_path: Path) -> None:
    assert brought(shelf) is None
    path = bring(shelf, index(port), environ(tmp_path))
    assert path == f"{_folder(shelf)}/{NAME[:-4]}/uv"
    assert os.access(path, os.X_OK)
    assert os.listdir(os.path.dirname(path)) == ["uv"]
    assert bring(shelf, index(port), environ(tmp_path)) == brought(shelf) == path
    assert Index.asked == ["/simple/uv/", f"/files/{NAME}"]


def test_who_was_killed_in_the_middle_is_in_nobodys_way(
    shelf: Shelf, port: int, tmp_path: Path
) -> None:
    partial = Path(_folder(shelf), ".partial")
    partial.mkdir(parents=True)
    (partial / "uv").write_text("half of it")
    (partial / "uv").chmod(0o755)
    assert brought(shelf) is None
    broken = Path(_folder(shelf), NAME[:-4])
    broken.mkdir()
    (broken / "uv").write_text("not executable")
    assert bring(shelf, index(port), environ(tmp_path)) == str(broken / "uv")
    assert left(shelf) == [NAME[:-4]]


def test_a_folder_of_wheels_will_do_without_any_index(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(wheel())
    wanted = Requirements(f"--no-index\n--find-links {tmp_path}\nsix\n")
    assert bring(shelf, wanted, environ(tmp_path)) == brought(shelf)
    assert (tmp_path / NAME).exists()


def test_the_password_of_an_index_is_sent_and_not_shown(
    shelf: Shelf, port: int, tmp_path: Path
) -> None:
    Index.password = "hush"  # noqa: S105 - nobody's
    with pytest.raises(NotBroughtError, match=f"127.0.0.1:{port}: Unauthorized") as caught:
        bring(shelf, index(port, "me:wrong-hush@"), environ(tmp_path))
    assert "hush" not in str(caught.value)
    assert bring(shelf, index(port, "me:hush@"), environ(tmp_path))


@pytest.mark.parametrize(
    ("content", "sha256", "said"),
    [
        (wheel(), "0" * 64, "what came is not the wheel that its index lists"),
        (wheel(), "", "does not say the hash"),
        (b"no archive", None, "its wheel cannot be read"),
        (wheel(member="scripts/other"), None, "there is no program in its wheel"),
        (broken(zipfile.ZIP_LZMA), None, "its wheel cannot be read"),
        (broken(zipfile.ZIP_BZIP2), None, "its wheel cannot be read"),
        (broken(zipfile.ZIP_DEFLATED), None, "its wheel cannot be read"),
        (wheel("#!/bin/sh\nexit 1\n"), None, "its program does not run on this host"),
    ],
    ids=[
        "another hash",
        "no hash",
        "no archive",
        "no program",
        "lzma",
        "bzip2",
        "deflate",
        "a broken program",
    ],
)
def test_what_cannot_be_used_leaves_nothing(
    content: bytes, sha256: str | None, said: str, shelf: Shelf, port: int, tmp_path: Path
) -> None:
    offer(content, sha256)
    with pytest.raises(NotBroughtError, match=said):
        bring(shelf, index(port), environ(tmp_path))
    assert left(shelf) == []


@pytest.mark.parametrize(
    "page",
    [
        "[" * 100_000,
        f'<a href="http://[/{NAME}#sha256={"0" * 64}">uv</a>',
        f'<a href="uv-{"9" * 5000}.1-py3-none-{TAG}.whl">uv</a>',
        f'{{"files": [{{"url": "http://[", "filename": "{NAME}"}}]}}',
    ],
    ids=["deep", "no URL", "a number beyond words", "no URL in JSON"],
)
def test_an_index_that_makes_no_sense_is_a_reason(
    page: str, shelf: Shelf, port: int, tmp_path: Path
) -> None:
    Index.page = page
    with pytest.raises(NotBroughtError, match=r"makes no sense|the hash of its wheel"):
        bring(shelf, index(port), environ(tmp_path))


def test_an_index_that_sends_a_byte_at_a_time_holds_nobody_up(
    shelf: Shelf, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uv_bringing, "SLOWEST_PAGE", 0.1)
    Index.is_slow = True
    with pytest.raises(UnreachableError, match="has not sent everything"):
        bring(shelf, index(port), environ(tmp_path))


def test_a_pipe_among_wheels_is_none(shelf: Shelf, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    wanted = Requirements(f"--no-index\n--find-links {tmp_path}\nsix\n")
    with pytest.raises(NotBroughtError, match="no index"):
        bring(shelf, wanted, environ(tmp_path))


def test_an_index_that_does_not_answer_is_a_reason(shelf: Shelf, tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match=r"127.0.0.1:9: .*refused"):
        bring(shelf, index(9), environ(tmp_path))
    with pytest.raises(NotBroughtError, match="no index of packages"):
        bring(shelf, Requirements("--no-index\nsix"), environ(tmp_path))


def test_where_uv_has_settings_only_uv_knows_the_index(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "config" / "uv").mkdir(parents=True)
    (tmp_path / "config" / "uv" / "uv.toml").write_text('index-url = "https://mirror"\n')
    with pytest.raises(NotBroughtError, match="settings"):
        bring(shelf, Requirements("six"), environ(tmp_path))
