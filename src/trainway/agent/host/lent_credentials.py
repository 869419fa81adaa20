"""Credentials that jobs on a rented machine may use for a while: files that are soon replaced.

They are files and not variables, since a process cannot be given other variables while it runs. The
variables of jobs say only where the files are. A daemon that starts knows of those that are there.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory
    from trainway.agent.transfer.frames import Lend
    from trainway.json_types import Json


FOLDER = "credentials"
VARIABLES = "variables.json"
_NAME = re.compile(r"[a-z][-a-z0-9]*(\.[a-z0-9]+)?")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


class LentCredentials:
    """What jobs have been given."""

    def __init__(self, home: Directory, environment: dict[str, str]) -> None:
        """`environment` is what all processes of jobs start from; it is changed here."""
        self._home = home
        self._environment = environment
        try:
            self._set(json.loads(home.read(f"{FOLDER}/{VARIABLES}")))
        except (OSError, ValueError, AttributeError):
            return  # nothing was lent

    def take(self, frame: Lend) -> None:
        """Have these from now on; a reader sees the old or the new ones."""
        names = [*frame["files"], *frame["variables"].values()]
        if VARIABLES in names or not all(_NAME.fullmatch(str(name)) for name in names):
            raise ValueError("credentials: a name of a file makes no sense")
        if not all(_VARIABLE.fullmatch(str(name)) for name in frame["variables"]):
            raise ValueError("credentials: a name of a variable makes no sense")
        self._home.make(FOLDER)
        folder = self._home.join(FOLDER)
        for name, text in frame["files"].items():
            data = str(text).replace("{folder}", folder)
            self._home.replace(f"{FOLDER}/{name}", data.encode())
        variables = json.dumps(frame["variables"]).encode()
        self._home.replace(f"{FOLDER}/{VARIABLES}", variables)
        self._set(frame["variables"])

    def _set(self, variables: Json) -> None:
        folder = self._home.join(FOLDER)
        self._environment.update({key: f"{folder}/{name}" for key, name in variables.items()})
