"""A process of a job in a test: `visitor.py SOCKET NAME [ignore-sigterm]`; see gate.py.

It reports to the gate and ends, with the exit code it is given, when it is let go.
"""

import json
import os
import signal
import socket
import sys


def main(path: str, name: str, *words: str) -> int:
    if "ignore-sigterm" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(f"{name} at the gate", flush=True)  # noqa: T201 (this is a job's log)
    with socket.socket(socket.AF_UNIX) as gate:
        gate.connect(path)
        said = {"pid": os.getpid(), "name": name, "env": dict(os.environ)}
        gate.sendall(json.dumps(said).encode() + b"\n")
        answer = gate.makefile().readline()
    print(f"{name} through the gate", flush=True)  # noqa: T201
    return int(answer or 99)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
