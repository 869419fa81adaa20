"""A process of a job that writes lines until it is let go: `chatter.py SOCKET NAME`; see gate.py.

The lines are numbered, so that a test sees whether one was lost, doubled or out of order. It
writes at least one, however soon it is let go.
"""

import json
import os
import select
import socket
import sys


def main(path: str, name: str) -> int:
    with socket.socket(socket.AF_UNIX) as gate:
        gate.connect(path)
        said = {"pid": os.getpid(), "name": name, "env": dict(os.environ)}
        gate.sendall(json.dumps(said).encode() + b"\n")
        count = 0
        while count == 0 or not select.select([gate], [], [], 0.002)[0]:
            print(f"{name} line {count}", flush=True)  # noqa: T201 (this is a job's log)
            count += 1
        answer = gate.makefile().readline()
    print(f"{name} wrote {count} lines", flush=True)  # noqa: T201
    return int(answer or 99)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
