"""Several hosts on this machine that are reached with real SSH, and that can be cut off.

A host is a set of namespaces: network, processes, mounts, hostname. It has its own sshd, host key,
home directory and `/etc/hosts`, and shares the rest of the file system with this machine, as
hosts with a common network disk do. README.md has the details.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from host_init import SSHD
from host_processes import HostProcess
from machine import SEARCH_PATH, Machine, Plug
from machine_room import MachineRoom
from patience import PATIENCE_S, until
from switch import CLIENT_PORT, Switch, UnavailableError

INIT: Final = Path(__file__).with_name("host_init.py")
FIRST_NUMBER: Final = 11
MOST_HOSTS: Final = 16
PROGRAMS: Final = {
    SSHD: "openssh-server",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
}
SERVER: Final = """\
ListenAddress {address}:22
HostKey {folder}/host_key
PidFile none
UsePAM no
UseDNS no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
MaxSessions 100
PrintMotd no
LogLevel VERBOSE
Subsystem sftp internal-sftp
"""
CLIENT: Final = """\
Host *
    User {user}
    IdentityFile {folder}/id_ed25519
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile /dev/null
"""


@dataclass(frozen=True)
class User:
    """Who has an account on the hosts."""

    name: str = "root"
    number: int = 0


ORDINARY: Final = User("tester", 64_123)
"""Somebody who may nothing that others may not."""


class Host(Machine):
    """One of them. Made by `SshHosts`, which also ends it."""

    def __init__(self, name: str, folder: Path, switch: Switch, number: int, user: User) -> None:
        plug = Plug(switch, name, number)
        super().__init__(name, folder, [str(INIT), str(folder), name], plug)
        self.user = user
        self.address = plug.address
        self.home = folder / "home"
        self._let_in(user, self.home)
        self._write_files()
        self.renew_key()

    def _let_in(self, user: User, home: Path) -> None:
        """Give a user a home directory, with the key of this machine."""
        keys = home / ".ssh" / "authorized_keys"
        keys.parent.mkdir(parents=True, mode=0o700)
        home.chmod(0o700)
        shutil.copy(self.folder.parent / "id_ed25519.pub", keys)
        for path in (home, keys.parent, keys):
            os.chown(path, user.number, user.number)

    def add_user(self, user: User) -> None:
        """Let somebody else log in too, until the host is switched off."""
        home = self.folder / user.name
        self._let_in(user, home)
        self.run("sh", "-c", f"echo '{account(user, home)}' >> /etc/passwd")

    @property
    def namespaces(self) -> list[str]:
        """Its hostname and shared memory too."""
        return ["--uts", "--ipc", *super().namespaces]

    @property
    def authorized_keys(self) -> Path:
        """Who may log in."""
        return self.home / ".ssh" / "authorized_keys"

    @property
    def log(self) -> str:
        """What its sshd said."""
        return (self.folder / "sshd.log").read_text(errors="replace")

    def known_as(self) -> str:
        """Its line of known_hosts."""
        kind, key, *_ = (self.folder / "host_key.pub").read_text().split()
        return f"{self.name},{self.address} {kind} {key}\n"

    def boot(self) -> None:
        """Start the host."""
        self.power()
        super().boot()
        self.restart_sshd()

    def restart_sshd(self) -> None:
        """Start an sshd with the host key of now; sessions of the last one go on."""
        size = len(self.log) if (self.folder / "sshd.log").exists() else 0
        self.order("")
        listening = f"Server listening on {self.address}"
        until(
            lambda: (self.folder / "sshd.log").exists() and listening in self.log[size:],
            f"sshd of {self.name} does not start",
        )

    def renew_key(self) -> None:
        """Another host key, for the next sshd."""
        for suffix in ("", ".pub"):
            (self.folder / f"host_key{suffix}").unlink(missing_ok=True)
        generate_key(self.folder / "host_key")

    def run(self, *command: str) -> str:
        """What a command prints that runs on the host, without SSH."""
        enter = ["nsenter", "--target", str(self._pid), "--net", "--mount", "--uts", "--pid"]
        env = {"HOME": str(self.home), "PATH": SEARCH_PATH}
        done = subprocess.run(
            [*enter, *command],
            cwd=self.home,
            env=env,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}"
        return done.stdout

    def processes(self) -> list[HostProcess]:
        """All that runs on it besides sshd."""
        found = super().processes()
        return [each for each in found if not each.words[0].startswith(("sshd", SSHD))]

    def _write_files(self) -> None:
        user = self.user
        others = [
            line
            for line in Path("/etc/passwd").read_text().splitlines()
            if not line.startswith(f"{user.name}:")
        ]
        first = account(user, self.home)
        (self.folder / "passwd").write_text("\n".join([first, *others, ""]))
        # As Debian does it: the name of the host is an address that no other host can reach.
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {self.name}\n")
        config = SERVER.format(address=self.address, folder=self.folder)
        (self.folder / "sshd_config").write_text(config)


class SshHosts(MachineRoom):
    """A network of hosts, and what this machine needs to log in on them."""

    def __init__(
        self, count: int = 4, user: User | None = None, network: Switch | None = None
    ) -> None:
        """`network`: of others, whose numbers end before ours begin."""
        assert count <= MOST_HOSTS
        require_programs()
        super().__init__("ssh-", 0o711, network=network)
        self.user = user or User()
        self.config = self.folder / "config"
        self.hosts: list[Host] = []
        with self.starting():
            self._start(count)

    @property
    def machines(self) -> Sequence[Host]:
        """The hosts."""
        return self.hosts

    def __getitem__(self, index: int) -> Host:
        return self.hosts[index]

    @property
    def interface(self) -> str:
        """What this machine sees of the network."""
        return self.network.interface

    def named(self, name: str) -> Host:
        """The host of that name."""
        return next(host for host in self.hosts if host.name == name)

    def _start(self, count: int) -> None:
        generate_key(self.folder / "id_ed25519")
        switch = self.need_network()
        first = FIRST_NUMBER if self._owns_switch else FIRST_NUMBER + MOST_HOSTS
        for index in range(count):
            name, number = f"h{index}", first + index
            folder = self.folder / name
            folder.mkdir()
            host = Host(name, folder, switch, number, self.user)
            self.hosts.append(host)
            host.boot()
        self.write_config()
        self.trust_keys()

    def write_config(self, *lines: str) -> None:
        """What ssh is told with `-F`, with more lines before all others."""
        entries = [f"Host {host.name}\n    HostName {host.address}\n" for host in self.hosts]
        common = CLIENT.format(folder=self.folder, user=self.user.name)
        self.config.write_text("".join([*(f"{line}\n" for line in lines), *entries, common]))

    def trust_keys(self) -> None:
        """Know the keys that the hosts have now."""
        lines = "".join(host.known_as() for host in self.hosts)
        (self.folder / "known_hosts").write_text(lines)

    def ssh(self, host: Host, *command: str, options: Sequence[str] = ()) -> str:
        """What a command prints that runs on the host, over SSH."""
        done = subprocess.run(
            ["ssh", "-F", str(self.config), "-o", "BatchMode=yes", *options, host.name, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}"
        return done.stdout

    def cut(self, host: Host) -> None:
        """Pull the host's cable: what is sent to it, or by it, is lost."""
        host.cut()

    def heal(self, host: Host) -> None:
        """Put the cable back."""
        host.heal()

    def cut_this_machine(self) -> None:
        """Pull the cable of this machine: the hosts still reach each other."""
        self.network.unplug(CLIENT_PORT)

    def heal_this_machine(self) -> None:
        """Put the cable back."""
        self.network.plug_again(CLIENT_PORT)

    def heal_all(self) -> None:
        """Put all cables back."""
        self.heal_this_machine()
        for host in self.hosts:
            self.heal(host)

    def processes(self) -> list[HostProcess]:
        """All that runs on the hosts besides sshd."""
        return [each for host in self.hosts for each in host.processes()]


def account(user: User, home: Path) -> str:
    """The line of /etc/passwd."""
    return f"{user.name}:x:{user.number}:{user.number}::{home}:/bin/bash"


def require_programs() -> None:
    """See to it that hosts can be made here."""
    if os.geteuid() != 0:
        raise UnavailableError("hosts in namespaces: only root can make them")
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            raise UnavailableError(f"{program}: not found; apt-get install {package}")


def generate_key(path: Path) -> None:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


def banner(address: str, port: int = 22, timeout_s: float = PATIENCE_S) -> str:
    """How the sshd there greets; empty if nobody does."""
    try:
        with socket.create_connection((address, port), timeout=timeout_s) as connection:
            connection.settimeout(timeout_s)
            return connection.makefile("rb").readline().decode(errors="replace").strip()
    except OSError:
        return ""
