"""How the queue is asked for: of squeue, or of slurmrestd where that is wanted and tells enough.

slurmrestd wants a token: one from a file, or one of our own, which Slurm gives out for a while.
"""

from __future__ import annotations

import time

from trainway.agent.base.own_program import agent_command
from trainway.agent.slurm.relay import queue_states
from trainway.agent.slurm.relay.rest_query import EXIT_UNTOLD, VERSION
from trainway.agent.slurm.relay.slurm_failure import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainway.agent.slurm.commands import Commands, Result
    from trainway.json_types import Json


LIFESPAN = 1800
TOKEN = ["scontrol", "token", f"lifespan={LIFESPAN}"]
VARIABLE = "SLURM_JWT"


class QueueQuery:
    """Has the queue printed."""

    def __init__(self, commands: Commands, user: str) -> None:
        self._commands = commands
        self._user = user
        self._rest: Json = {}
        self._token = ""
        self._renew_at = 0.0

    def use_rest(self, rest: Json) -> None:
        """Ask slurmrestd: `url`, and maybe `token_file`, `user` and `version`."""
        self._rest = rest if rest.get("url") else {}
        self._renew_at = 0.0

    def ask(self, done: Callable[[Result], None]) -> None:
        """Have the queue printed; by squeue as long as there is no token."""
        if self._rest:
            self._renew()
        if self._rest and self._token:
            self._ask_rest(
                lambda result: (
                    self._ask_squeue(done) if result.status == EXIT_UNTOLD else done(result)
                )
            )
        else:
            self._ask_squeue(done)

    def _ask_squeue(self, done: Callable[[Result], None]) -> None:
        self._commands.run(queue_states.query(self._user), done)

    def _ask_rest(self, done: Callable[[Result], None]) -> None:
        rest = self._rest
        user, version = str(rest.get("user") or self._user), str(rest.get("version") or VERSION)
        words = [*agent_command(), "slurm", "rest", str(rest["url"]), user, version]
        self._commands.run(words, done, env={VARIABLE: self._token})

    def _renew(self) -> None:
        """Get a token, in time for the next question."""
        path = str(self._rest.get("token_file") or "")
        if path:
            self._token = _read(path)
        elif time.monotonic() >= self._renew_at:
            self._renew_at = time.monotonic() + LIFESPAN / 2
            self._commands.run(TOKEN, self._on_token)

    def _on_token(self, result: Result) -> None:
        """Take it over; without one, squeue is asked."""
        self._token = result.stdout.strip().partition("=")[2] if result.ok else ""

    def check(self, done: Callable[[str], None]) -> None:
        """See whether slurmrestd answers: empty if it is not to be asked, else how it went."""
        if not self._rest:
            done("")
            return

        def on_answer(result: Result) -> None:
            done(f"{self._rest['url']} ok" if result.ok else str(explain(result)))

        def on_token(result: Result) -> None:
            self._on_token(result)
            if self._token:
                self._ask_rest(on_answer)
            else:
                done(f"there is no token: {explain(result)}")

        path = str(self._rest.get("token_file") or "")
        if path:
            self._token = _read(path)
            self._ask_rest(on_answer)
        else:
            self._commands.run(TOKEN, on_token)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip().rpartition("=")[2]
    except OSError:
        return ""
