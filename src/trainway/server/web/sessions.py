"""Browsers that are logged in, each known by a secret in its cookie.

Only digests of the secrets are kept, in a file of the home directory, so that a page goes on with
the next server. A session is of one host and one token: who replaces the token ends all of them.
"""

import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from trainway.server.tokens import TokenFile, digest

log = logging.getLogger(__name__)

LIFE_S: Final = 7 * 24 * 3600
"""How long a session lasts, whatever is done with it."""
_MOST: Final = 64
"""How many there are at a time; the oldest one has to go first."""
_LARGEST: Final = 1 << 20
_LONGEST_AGENT: Final = 200
_SEEN_S: Final = 60.0
"""How exact it is when a browser was seen last."""
_KEPT_S: Final = 600.0
"""How exact that is for the next server."""
_PRIVATE: Final = 0o600


@dataclass(frozen=True)
class Session:
    """A browser that is logged in."""

    digest: str
    """The digest of its secret."""
    host: str
    """What it calls the server."""
    token: str
    """The digest of the server's token when it logged in; empty: the server had none."""
    expires: float
    address: str = ""
    """Where it logged in from; empty: that is not known, as with all of the following."""
    agent: str = ""
    """What it calls itself."""
    seen: float = 0.0
    """When it last asked for something."""

    @property
    def id(self) -> str:
        """By what people tell it from others; nobody can log in with it."""
        return digest(f"id:{self.digest}")[:16]

    @property
    def began(self) -> float:
        """When it logged in."""
        return self.expires - LIFE_S


def csrf_token(secret: str) -> str:
    """What a page has to send with every change; pages of other sites cannot know it."""
    return digest(f"csrf:{secret}")


def is_csrf_token(secret: str, text: str) -> bool:
    """Whether it is that of the session."""
    return hmac.compare_digest(csrf_token(secret), digest_like(text))


def digest_like(text: str) -> str:
    """A text from outside as it can be compared: ASCII, which all digests are."""
    return text if text.isascii() else ""


class Sessions:
    """All sessions of a server."""

    def __init__(
        self, folder: Path, token: TokenFile, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = folder / "dashboard.json"
        self._token = token
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        self._kept = 0.0
        """When the file was written."""
        self.port = 0
        """The port of this machine at which browsers find the server; 0: none was opened."""
        self._read()

    def begin(self, host: str, address: str = "", agent: str = "") -> str:
        """The secret of a new session, for the cookie."""
        secret = secrets.token_urlsafe(32)
        now = self._clock()
        known = "".join(letter for letter in agent[:_LONGEST_AGENT] if letter.isprintable())
        token = self._token.current_digest()
        session = Session(digest(secret), host, token, now + LIFE_S, address, known, now)
        self._sessions[session.digest] = session
        self._write()
        return secret

    def find(self, secret: str, host: str) -> Session | None:
        """The session with that secret; None: there is none, or not any more, or not there."""
        session = self._sessions.get(digest(secret)) if secret else None
        if session is None or session.host != host or not self._is_valid(session):
            return None
        return self._noted(session)

    def _noted(self, session: Session) -> Session:
        """The session, of which is known that its browser is there now."""
        now = self._clock()
        if now - session.seen < _SEEN_S:
            return session
        seen = replace(session, seen=now)
        self._sessions[session.digest] = seen
        if now - self._kept >= _KEPT_S:
            self._write()
        return seen

    def all(self) -> list[Session]:
        """Everybody who is logged in, the newest first."""
        return sorted(self._living(), key=lambda session: -session.expires)

    def hosts(self) -> set[str]:
        """What browsers that are logged in call the server."""
        return {session.host for session in self._living()}

    def end_one(self, id_: str) -> bool:
        """Log the browser of that id out; whether there was one."""
        found = [session for session in self._living() if session.id == id_]
        for session in found:
            del self._sessions[session.digest]
        if found:
            self._write()
        return bool(found)

    def end(self, secret: str) -> None:
        """Log one browser out."""
        if self._sessions.pop(digest(secret), None) is not None:
            self._write()

    def end_all(self, keep: str = "") -> int:
        """Log all browsers out, but for the one of that id; how many they were."""
        ended = [session for session in self._living() if session.id != keep]
        self._sessions = {each.digest: each for each in self._living() if each.id == keep}
        self._write()
        return len(ended)

    def listens_at(self, port: int) -> None:
        """Note where browsers find the server, for the next one."""
        if port != self.port:
            self.port = port
            self._write()

    @property
    def last_port(self) -> int:
        """Where pages that are still open look for the server; 0: there are none."""
        return self.port if self._living() else 0

    def _is_valid(self, session: Session) -> bool:
        return session.expires > self._clock() and hmac.compare_digest(
            session.token, self._token.current_digest()
        )

    def _living(self) -> list[Session]:
        return [session for session in self._sessions.values() if self._is_valid(session)]

    def _write(self) -> None:
        self._kept = self._clock()
        newest = sorted(self._living(), key=lambda session: session.expires)[-_MOST:]
        self._sessions = {session.digest: session for session in newest}
        content = {"port": self.port, "sessions": [asdict(session) for session in newest]}
        draft = self._path.with_name(f".{self._path.name}.new")
        try:
            draft.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(draft, flags, _PRIVATE), "w") as file:
                json.dump(content, file)
            draft.replace(self._path)
        except OSError as error:
            log.warning("%s: the sessions end with this server: %s", self._path, error.strerror)

    def _read(self) -> None:
        try:
            with self._path.open("rb") as file:
                content = json.loads(file.read(_LARGEST))
            found = [_session(entry) for entry in content["sessions"]]
            port = int(content["port"])
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            log.warning("%s cannot be read: who used the dashboard logs in again", self._path)
            return
        self._sessions = {session.digest: session for session in found}
        self.port = port if 0 < port < 1 << 16 else 0


def _session(entry: Any) -> Session:
    return Session(
        str(entry["digest"]),
        str(entry["host"]),
        str(entry["token"]),
        float(entry["expires"]),
        str(entry.get("address", "")),
        str(entry.get("agent", "")),
        float(entry.get("seen", 0.0)),
    )
