"""A rank that trains as DDP does, without torch, whose import takes seconds: `summing_rank.py DIR`.

In each step all ranks send a number to the first one, and get the sum. The first keeps a checkpoint
after each step, whole or not at all; all go on from it. They end when DIR has a file `enough`.
"""

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import IO, Final

PORT: Final = 29_517
RANK: Final = int(os.environ["SKYPILOT_NODE_RANK"])
RANKS: Final = int(os.environ["SKYPILOT_NUM_NODES"])
FIRST: Final = os.environ["SKYPILOT_NODE_IPS"].split()[0]


def say(text: str) -> None:
    """Let the log have it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def others() -> list[IO[str]]:
    """The first waits for all others, which look for it until it is there."""
    if RANK == 0:
        with socket.create_server((FIRST, PORT)) as server:
            return [server.accept()[0].makefile("rw") for _ in range(RANKS - 1)]
    while True:
        try:
            return [socket.create_connection((FIRST, PORT)).makefile("rw")]
        except OSError:
            time.sleep(0.1)


def all_reduced(peers: list[IO[str]], number: int) -> int:
    """The sum of the numbers of all ranks; below 0: it is enough."""
    if RANK == 0:
        number += sum(int(peer.readline()) for peer in peers)
        if Path(sys.argv[1], "enough").exists():
            number = -1
    for peer in peers:
        peer.write(f"{number}\n")
        peer.flush()
    return number if RANK == 0 else int(peers[0].readline())


def main() -> None:
    """Sum until it is enough."""
    checkpoint = Path(sys.argv[1], "checkpoint.json")
    kept = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"step": 0, "sum": 0}
    peers = others()
    say(f"begins at step {kept['step']} with {RANKS} ranks")
    while (found := all_reduced(peers, RANK + 1)) >= 0:
        kept = {"step": kept["step"] + 1, "sum": kept["sum"] + found}
        if RANK == 0:
            part = checkpoint.with_suffix(".part")
            part.write_text(json.dumps(kept))
            part.replace(checkpoint)
        time.sleep(0.1)
    say(f"ends at step {kept['step']} with the sum {kept['sum']}")


if __name__ == "__main__":
    main()
