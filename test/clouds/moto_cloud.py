"""A cloud of AWS for tests: moto in a process of its own, whose machines may be SSH hosts."""

import contextlib
import json
import re
import shutil
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Self

from environments import MOTO, environment

from ssh_hosts import Host, SshHosts

PROGRAM: Final = Path(__file__).with_name("moto_server.py")
REGION: Final = "us-east-1"
LOOK_S: Final = 0.1


@dataclass(frozen=True)
class MotoCloud:
    """The cloud, while it runs."""

    port: int

    @property
    def endpoint(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def variables(self) -> dict[str, str]:
        """What a user sets to have this for AWS, and nothing else."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }

    def reset(self) -> None:
        """Nothing is there, nothing goes wrong."""
        self._tell("reset")

    def fail(
        self,
        action: str,
        code: str,
        *,
        times: int = 1,
        skip: int = 0,
        zone: str = "",
        after: bool = False,
        status: int = 400,
    ) -> None:
        """Let a request be refused, or (`after`) be done and its answer be an error."""
        fault = {"action": action, "code": code, "message": f"{code} of a test"}
        how = {"times": times, "skip": skip, "zone": zone, "after": after, "status": status}
        self._tell("fault", {**fault, **how})

    def mend(self) -> None:
        """Let nothing go wrong any more that was ordered."""
        self._tell("mend")

    def calls(self) -> list[str]:
        """The actions that were asked for, in order."""
        return list(self._tell("calls"))

    def instances(self) -> list[dict[str, Any]]:
        """All machines: id, region, zone, state, type, address, tags, launch, reason of the end."""
        return list(self._tell("instances"))

    def living(self) -> list[dict[str, Any]]:
        """Those that cost something."""
        return [each for each in self.instances() if each["state"] != "terminated"]

    def cost(self, prices: Mapping[str, str]) -> Decimal:
        """What all machines that there ever were have cost, by the price of an hour in each zone.

        AWS counts whole seconds, from the launch of a machine to the time in the reason of its end.
        """
        total = Decimal(0)
        for each in self.instances():
            (ended,) = re.findall(r"\((.*) UTC\)", each["reason"])
            launched = datetime.fromisoformat(each["launched"]).replace(tzinfo=None, microsecond=0)
            seconds = (datetime.fromisoformat(ended) - launched).total_seconds()
            total += Decimal(prices[each["zone"]]) * Decimal(int(seconds)) / 3600
        return total

    def groups(self) -> list[str]:
        """Names of the security and placement groups that somebody has made."""
        return list(self._tell("groups"))

    def leftovers(self) -> list[str]:
        """Disks and network cards of no machine, keys and addresses: `volume vol-0a1b2c`."""
        return list(self._tell("leftovers"))

    def warn(self, instance: str) -> None:
        """Tell a spot machine that it will be taken."""
        self._tell("notice", instance)

    def take(self, instance: str) -> None:
        """Take a spot machine; its host loses all that runs on it."""
        self._tell("take", instance)

    def shut_down(self, instance: str) -> str:
        """Do what AWS does when a machine shuts itself down; says what that is."""
        return str(self._tell("shut_down", instance))

    def offer(self, hosts: list[Host]) -> None:
        """Let machines be these hosts, which are clean."""
        offered = [
            {
                "address": host.address,
                "keys": str(host.authorized_keys),
                "host_key": str(host.folder / "host_key"),
            }
            for host in hosts
        ]
        self._tell("hosts", offered)

    def work(self) -> Mapping[str, list[str]]:
        """Addresses of hosts whose machine was ended, or is stopped."""
        found: Mapping[str, list[str]] = self._tell("work")
        return found

    def _tell(self, what: str, given: object = None) -> Any:
        body = b"" if given is None else json.dumps(given).encode()
        request = urllib.request.Request(f"{self.endpoint}/trainway/{what}", data=body)  # noqa: S310 - ours
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - ours
            return json.load(answer)


@contextlib.contextmanager
def moto_process() -> Iterator[MotoCloud]:
    """The cloud of a session of tests; it ends with whoever made it."""
    python = environment(*MOTO).path / "bin" / "python"
    with subprocess.Popen(
        [python, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout
        try:
            yield MotoCloud(int(process.stdout.readline()))
        finally:
            process.kill()


class Janitor:
    """Does to hosts what their cloud does to machines: a new one has nothing of the last."""

    def __init__(self, cloud: MotoCloud, hosts: SshHosts) -> None:
        self._cloud = cloud
        self._hosts = hosts
        self._keys = {host.address: host.authorized_keys.read_text() for host in hosts.hosts}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._cloud.offer(self._hosts.hosts)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._cloud.living():
            self._cloud.take(each["id"])
        self._is_over.set()
        self._thread.join()
        self._work()
        self._cloud.reset()

    def _look(self) -> None:
        while not self._is_over.wait(LOOK_S):
            self._work()

    def _work(self) -> None:
        wanted = self._cloud.work()
        for host in self._hosts.hosts:
            if host.address in wanted["dirty"]:
                self._clean(host)
                self._cloud.offer([host])
            elif host.address in wanted["stopped"] and host.is_on:
                host.halt()
            elif host.address not in wanted["stopped"] and not host.is_on:
                host.boot()

    def _clean(self, host: Host) -> None:
        host.halt()
        for path in host.home.iterdir():
            if path.name == ".ssh":
                continue
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        host.authorized_keys.write_text(self._keys[host.address])
        host.renew_key()
        host.boot()
        self._hosts.trust_keys()


@contextlib.contextmanager
def paired(cloud: MotoCloud, hosts: SshHosts) -> Iterator[MotoCloud]:
    """The cloud, whose machines are these hosts."""
    cloud.reset()
    with Janitor(cloud, hosts):
        yield cloud
