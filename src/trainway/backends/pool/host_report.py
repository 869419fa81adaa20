"""Looks at a host for `trainway doctor`, and prints what it found as JSON.

The text of this file is sent to the Python of the host, whichever that is: it must run with any,
else nobody would learn that it is too old. What a newer one would do better is not used here.
"""

import ctypes
import json
import os
import socket
import sys
import threading

SECONDS = 3
NEWNS, NEWUSER, PRIVATE_REC, BIND = 0x20000, 0x10000000, (1 << 18) | (1 << 14), 1 << 12


def can_mount() -> bool:
    """Whether pods may have mounts of their own. Tried in a child."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    libc = ctypes.CDLL(None, use_errno=True)
    flags = NEWNS if os.geteuid() == 0 else NEWNS | NEWUSER
    failed = (
        libc.unshare(flags)
        or libc.mount(None, b"/", None, PRIVATE_REC, None)
        or libc.mount(b"/tmp", b"/tmp", None, BIND, None)
    )
    os._exit(1 if failed else 0)


def gpus() -> int:
    """The number of GPUs that NVIDIA's or AMD's driver knows."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        count = ctypes.c_uint()
        if nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0:
            return count.value
    except OSError:
        pass
    found, nodes = 0, "/sys/class/kfd/kfd/topology/nodes"
    for node in os.listdir(nodes) if os.path.isdir(nodes) else []:  # noqa: PTH112, PTH208 - any Python
        text = read(nodes + "/" + node + "/properties")
        lines = [line.split() for line in text.splitlines()]
        found += any(line[0] == "simd_count" and line[1] != "0" for line in lines if len(line) > 1)
    return found


def unreached(peers: "list[list[object]]") -> "list[str]":
    """The names of the other hosts of the pool whose SSH server does not answer."""
    answered = set()

    def ask(name: str, address: str, port: int) -> None:
        try:
            with socket.create_connection((address, port), SECONDS) as connection:
                connection.settimeout(SECONDS)
                if connection.recv(4) == b"SSH-":
                    answered.add(name)
        except OSError:
            pass

    threads = [threading.Thread(target=ask, args=peer) for peer in peers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [str(peer[0]) for peer in peers if peer[0] not in answered]


def read(path: str) -> str:
    """The text of a file; empty where it cannot be read."""
    try:
        with open(path) as file:  # noqa: PTH123 - any Python
            return file.read()
    except OSError:
        return ""


def ends_sessions() -> bool:
    """Whether systemd kills what a user has started when the last session ends."""
    wanted = False
    for line in read("/etc/systemd/logind.conf").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "KillUserProcesses":
            wanted = value.strip().lower() in ("yes", "true", "1", "on")
    user = os.environ.get("USER", "") or os.environ.get("LOGNAME", "")
    return wanted and not os.path.exists("/var/lib/systemd/linger/" + user)  # noqa: PTH110 - any Python


def memory() -> int:
    """Bytes of memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def disk() -> int:
    """Bytes that are free where jobs will be."""
    there = os.statvfs(os.path.expanduser("~"))  # noqa: PTH111 - any Python
    return there.f_bavail * there.f_frsize


if __name__ == "__main__":
    report = {
        "python": list(sys.version_info[:3]),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
        "memory": memory(),
        "disk": disk(),
        "gpus": gpus(),
        "mounts": can_mount(),
        "ends_sessions": ends_sessions(),
        "unreached": unreached(json.loads(sys.argv[1]) if len(sys.argv) > 1 else []),
        "home": os.path.expanduser("~"),  # noqa: PTH111 - any Python
        "writable": os.access(os.path.expanduser("~"), os.W_OK),  # noqa: PTH111 - any Python
    }
    sys.stdout.write("\n" + json.dumps(report) + "\n")
