"""A training whose nodes begin an epoch when they may, and write down each that they have done.

What is done is kept in the output of the job, so that one that begins anew goes on from there.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from slurm_site import ON, SlurmSite, until

EPOCHS: Final = 4
NODES: Final = 2
PROGRAM: Final = """
import os, pathlib, sys, time
gate, epochs = pathlib.Path(sys.argv[1]), int(sys.argv[2])
rank = os.environ["JOB_COMPLETION_INDEX"]
done = pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"], f"epochs-{rank}")
for epoch in range(len(done.read_text().split()) if done.exists() else 0, epochs):
    while not (gate / str(epoch)).exists():
        time.sleep(0.05)
    with done.open("a") as file:
        file.write(f"{epoch}\\n")
    print("epoch", epoch, "of", rank, "on", os.environ["SLURMD_NODENAME"], flush=True)
"""


@dataclass(frozen=True)
class PacedTraining:
    """A job on two nodes of Slurm."""

    site: SlurmSite
    id: str
    gate: Path

    @classmethod
    def submitted(cls, site: SlurmSite, gate: Path, *words: str) -> "PacedTraining":
        """One that may do its first epoch; a node has no room for two of its pods."""
        gate.mkdir(parents=True)
        command = ("python3", "-c", PROGRAM, str(gate), str(EPOCHS))
        options = ("--nodes", str(NODES), "--cpus", "5", "--name", "train", *words)
        training = cls(site, site.submit("--on", ON, *options, "--", *command), gate)
        training.allow(0)
        return training

    def allow(self, *epochs: int) -> None:
        """Let it begin these."""
        for epoch in epochs:
            (self.gate / str(epoch)).touch()

    def wait_for_epochs(self, count: int) -> None:
        """Wait until it is known on the login node that so many are done on both nodes."""
        folder = self.site.folder(self.id) / "output"
        files = [folder / f"epochs-{rank}" for rank in range(NODES)]
        until(
            lambda: all(file.exists() and len(file.read_text().split()) == count for file in files),
            f"{count} epochs are not done",
        )

    def hosts(self) -> list[str]:
        """Where its pods are, once that is known here too."""
        until(lambda: None not in self._hosts(), "it does not say where it runs")
        return [str(host) for host in self._hosts()]

    def _hosts(self) -> list[str | None]:
        return [node.get("host") for node in self.site.look(self.id)["status"]["nodes"]]

    def assert_it_succeeds(self) -> None:
        """Every epoch is in the output that came back, once."""
        self.site.run("jobs", "wait", self.id)
        output = Path(self.site.job(self.id)["status"]["outputDir"])
        for rank in range(NODES):
            found = (output / f"epochs-{rank}").read_text().split()
            assert found == [str(epoch) for epoch in range(EPOCHS)]
