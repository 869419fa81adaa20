"""The annexes of an elastic job: allocations of one node each, which it asks for one by one.

Each is a batch job of Slurm's, submitted by the driver with the options of the job's own. Slurm
starts it when there is room, as any other job. Its number is a file of the job before anything
follows from it, so that the next attempt can withdraw what this one has asked for. An annex that
nobody knows of, since the driver was killed before it heard the number, ends as soon as it starts.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress

from trainway.agent.slurm.driver.annex import NODE
from trainway.agent.slurm.files.job_files import ANNEXES
from trainway.agent.slurm.job_facts import look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from trainway.agent.slurm.commands import Commands, Result
    from trainway.agent.slurm.fencing import DriverLease
    from trainway.agent.slurm.job_facts import JobFacts

EXCLUDE = "--exclude="
DOUBT_LOOKS = 30
"""After how many looks Slurm is asked whether it still has the annexes that have not come."""
FIRST_PAUSE, LONGEST_PAUSE = 15, 300
"""How many looks nothing is asked for after sbatch has refused; each time twice as many."""


class Annexes:
    """What is asked for, and what is there."""

    def __init__(
        self,
        lease: DriverLease,
        commands: Commands,
        options: Sequence[str],
        agent: Sequence[str],
        on_refused: Callable[[str], None],
    ) -> None:
        """`on_refused` is told why Slurm takes no annex."""
        self._directory = lease.directory
        self._token = lease.token
        self._commands = commands
        self._options = list(options)
        self._agent = list(agent)
        self._on_refused = on_refused
        self._asking = 0
        self._waiting: list[str] = []
        """The numbers of those that have not started."""
        self.nodes: dict[str, str] = {}
        """The number of each one whose node the job uses, by the node."""
        self._pause, self._next_pause = 0, FIRST_PAUSE
        self._looks = 0
        self._is_closed = False

    def begin(self) -> None:
        """Withdraw what an earlier attempt has asked for."""
        self._directory.make(ANNEXES)
        for name in os.listdir(self._directory.join(ANNEXES)):
            number = name.partition(".")[0]
            if number.isdigit():  # pods may write there as well
                self._withdraw(number)

    def want(self, count: int, taken: Collection[str]) -> None:
        """Have so many asked for, none of them on nodes that are taken."""
        if self._is_closed:
            return
        self._looks += 1
        self._pause = max(0, self._pause - 1)
        while len(self._waiting) > count:
            self._withdraw(self._waiting.pop())
        if len(self._waiting) + self._asking < count and not self._pause:
            self._ask(taken)  # one at each look: they need not all come at once
        if self._waiting and self._looks % DOUBT_LOOKS == 0:
            for number in self._waiting:
                self._doubt(number)

    def arrived(self) -> list[tuple[str, str]]:
        """The numbers and nodes of those that have started since the last look."""
        found = []
        for number in list(self._waiting):
            with suppress(OSError):
                node = self._directory.read(f"{ANNEXES}/{number}{NODE}").decode().strip()
                self._waiting.remove(number)
                found.append((number, node))
        return found

    def use(self, number: str, node: str) -> None:
        """A pod runs in it from now on."""
        self.nodes[node] = number

    def give_back(self, number: str) -> None:
        """Let one go that has started: its script sees that its file is gone."""
        self.nodes = {node: job for node, job in self.nodes.items() if job != number}
        for name in (number, f"{number}{NODE}"):
            self._directory.remove(f"{ANNEXES}/{name}")

    def close(self, done: Callable[[], None]) -> None:
        """Want none any more; those that have started go when they see that the driver leaves."""
        self._is_closed = True
        waiting, self._waiting = self._waiting, []
        left = len(waiting)
        if not left:
            done()

        def on_result(_result: Result) -> None:
            nonlocal left
            left -= 1
            if not left:
                done()

        for number in waiting:
            self._commands.run(("scancel", number), on_result)

    def _ask(self, taken: Collection[str]) -> None:
        self._asking += 1
        words = with_excluded(self._options, taken)
        program = [*self._agent, "slurm", "annex", self._directory.path, str(self._token)]
        script = f"#!/bin/bash\nexec {' '.join(map(shlex.quote, program))}\n"
        argv = ["sbatch", "--parsable", f"--chdir={self._directory.path}", *words]
        self._commands.run(argv, self._on_submitted, stdin=script.encode())

    def _on_submitted(self, result: Result) -> None:
        self._asking -= 1
        number = result.stdout.strip().partition(";")[0]
        if not result.ok or not number.isdigit():
            self._pause, self._next_pause = (
                self._next_pause,
                min(LONGEST_PAUSE, self._next_pause * 2),
            )
            said = result.stderr.strip().splitlines()
            self._on_refused(said[-1] if said else "sbatch gave no number")
            return
        self._next_pause = FIRST_PAUSE
        self._directory.write(f"{ANNEXES}/{number}", b"")
        if self._is_closed:
            self._withdraw(number)
        else:
            self._waiting.append(number)

    def _doubt(self, number: str) -> None:
        """Ask again for one that somebody has cancelled."""

        def on_facts(facts: JobFacts) -> None:
            if facts.is_known and facts.is_over and number in self._waiting:
                self._waiting.remove(number)
                self.give_back(number)

        look(self._commands, number, on_facts)

    def _withdraw(self, number: str) -> None:
        self.give_back(number)
        self._commands.run(("scancel", number), lambda _result: None)


def with_excluded(options: Sequence[str], nodes: Collection[str]) -> list[str]:
    """Options of sbatch that keep off these nodes as well. Pure."""
    named = [word[len(EXCLUDE) :] for word in options if word.startswith(EXCLUDE)]
    kept = [word for word in options if not word.startswith(EXCLUDE)]
    listed = ",".join([*named[-1:], *sorted(nodes)])
    return [*kept, f"{EXCLUDE}{listed}"] if listed else kept
