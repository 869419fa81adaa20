"""What the parts of the dashboard share."""

from dataclasses import dataclass, field
from pathlib import Path

from trainway.server.tokens import TokenFile
from trainway.server.web.codes import Codes
from trainway.server.web.files import DashboardFiles
from trainway.server.web.listener import LocalListener
from trainway.server.web.sessions import Sessions
from trainway.server.web.throttle import Throttle


@dataclass
class Web:
    """The dashboard of one server."""

    folder: Path
    """The home directory."""
    token: TokenFile
    codes: Codes = field(default_factory=Codes)
    throttle: Throttle = field(default_factory=Throttle)
    files: DashboardFiles = field(default_factory=DashboardFiles)
    listener: LocalListener = field(default_factory=LocalListener)
    sessions: Sessions = field(init=False)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.folder, self.token)

    @property
    def is_idle(self) -> bool:
        """Whether nobody is about to open it."""
        return self.codes.is_empty

    def end_sessions(self, keep: str = "") -> int:
        """Log all browsers out, also who has not used a link yet; how many were logged in.

        The session of the id `keep` goes on.
        """
        self.codes.clear()
        return self.sessions.end_all(keep)
