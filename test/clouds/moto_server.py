"""EC2 of tests, as a process: `moto_server.py`, run by a Python that has moto.

moto knows the requests and answers of AWS; its machines are records. Here they are hosts of the
tests if some were offered: an instance has the address of its host, and the key of its user data is
let in there. What moto lacks is added: a repeated ClientToken, notices to spot machines, and errors
that a test has ordered. README.md says how; `moto_cloud.py` is the other side.

It prints its port, and ends when its input does.
"""

import io
import json
import re
import sys
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from moto.core import DEFAULT_ACCOUNT_ID
from moto.ec2.models import ec2_backends
from moto.ec2.models.instances import Instance
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

CONTROL: Final = "/trainway/"
PATIENCE_S: Final = 30.0
ERROR: Final = (
    "<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
    "<RequestID>test</RequestID></Response>"
)
NOTICE: Final = (
    "<item><spotInstanceRequestId>sir-{id}</spotInstanceRequestId><state>active</state>"
    "<status><code>marked-for-termination</code><updateTime>{at}</updateTime>"
    "<message>Your Spot instance is marked for termination.</message></status>"
    "<instanceId>{id}</instanceId></item>"
)
NOTICES: Final = (
    '<DescribeSpotInstanceRequestsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">'
    "<spotInstanceRequestSet>{}</spotInstanceRequestSet></DescribeSpotInstanceRequestsResponse>"
)
REGION: Final = re.compile(r"Credential=[^/]+/[^/]+/([^/]+)/ec2/")
READS: Final = ("Describe", "Get")
Start = Callable[..., Any]


class Hosts:
    """Which instance is which host; a host that was used is free again when it was cleaned."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.free: list[dict[str, str]] = []
        self.used: dict[str, dict[str, str]] = {}
        self.machines: dict[str, Any] = {}
        self.dirty: list[dict[str, str]] = []

    @property
    def offered(self) -> bool:
        return bool(self.free or self.used or self.dirty)

    def wait_for(self, count: int) -> bool:
        """Whether so many are free, when those that are being cleaned are clean."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.free) >= count or not self.dirty, PATIENCE_S)
            return len(self.free) >= count

    def take(self, instance: Any) -> None:
        with self.changed:
            if self.free:
                host = self.used[instance.id] = self.free.pop(0)
                self.machines[instance.id] = instance
                begin(host, instance.user_data)

    def leave(self, instance: Any) -> None:
        with self.changed:
            host = self.used.pop(instance.id, None)
            if host is not None:
                self.dirty.append(host)

    def address(self, instance: Any) -> str | None:
        host = self.used.get(instance.id)
        return host["address"] if host else None


def begin(host: dict[str, str], user_data: Any) -> None:
    """What cloud-init does with our user data; sshd reads its key anew for each connection."""
    text = user_data.decode() if user_data else ""
    first, _, rest = text.partition("\n")
    assert first == "#cloud-config", text
    told = json.loads(rest)
    with Path(host["keys"]).open("a") as keys:
        keys.writelines(f"{key}\n" for key in told["ssh_authorized_keys"])
    if "ssh_keys" in told:
        Path(host["host_key"]).write_text(told["ssh_keys"]["ed25519_private"])


class PlacementGroups:
    """What moto does not have."""

    def __init__(self) -> None:
        self.tags: dict[str, dict[str, str]] = {}

    def answer(self, action: str, form: dict[str, str]) -> bytes:
        name = form.get("GroupName", "")
        if action == "CreatePlacementGroup":
            self.tags[name] = numbered(form, "TagSpecification.1.Tag.{}.Key", ".Key", ".Value")
        elif action == "DeletePlacementGroup":
            self.tags.pop(name, None)
        wanted = numbered(form, "Filter.{}.Name", ".Name", ".Value.1")
        items = "".join(
            f"<item><groupName>{name}</groupName><strategy>cluster</strategy></item>"
            for name, tags in self.tags.items()
            if {f"tag:{key}": value for key, value in tags.items()}.items() >= wanted.items()
        )
        root = f"{action}Response"
        return f"<{root}><placementGroupSet>{items}</placementGroupSet></{root}>".encode()


def numbered(form: dict[str, str], pattern: str, key: str, value: str) -> dict[str, str]:
    """What a query has as a list of pairs."""
    found = {}
    number = 1
    while (place := pattern.format(number)) in form:
        found[form[place]] = form.get(place.removesuffix(key) + value, "")
        number += 1
    return found


class Front:
    """What stands before moto."""

    def __init__(self, moto: Any, hosts: Hosts) -> None:
        self._moto = moto
        self._hosts = hosts
        self._lock = threading.Lock()
        self._running = threading.Lock()
        self._changed: set[str] = set()
        """The regions in which something may be: to make one takes moto 0.2 s."""
        self.calls: list[str] = []
        self.faults: list[dict[str, Any]] = []
        self.notices: dict[str, str] = {}
        self.groups = PlacementGroups()
        self.tokens: dict[str, tuple[str, list[tuple[str, str]], bytes]] = {}

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        if environ["PATH_INFO"].startswith(CONTROL):
            answer = self.control(environ["PATH_INFO"].removeprefix(CONTROL), body)
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(answer).encode()]
        form = {key: found[0] for key, found in parse_qs(body.decode(errors="replace")).items()}
        action = form.get("Action", "")
        if not action.startswith(READS) and (region := REGION.search(authorization(environ))):
            self._changed.add(region[1])
        fault = self.next_fault(action, form)
        if fault and not fault["after"]:
            return refuse(start, fault)
        status, headers, content = self.answer(action, form, environ)
        if fault:
            return refuse(start, fault)
        start(status, headers)
        return [content]

    def answer(
        self, action: str, form: dict[str, str], environ: dict[str, Any]
    ) -> tuple[str, list[tuple[str, str]], bytes]:
        if action == "RunInstances":
            with self._running:
                return self.run(form, environ)
        if action == "DescribeSpotInstanceRequests":
            wanted = [name for name in self.notices if name in form.values()]
            items = "".join(NOTICE.format(id=name, at=self.notices[name]) for name in wanted)
            return "200 OK", [("Content-Type", "text/xml")], NOTICES.format(items).encode()
        if action.endswith(("PlacementGroup", "PlacementGroups")):
            return "200 OK", [("Content-Type", "text/xml")], self.groups.answer(action, form)
        return self.ask_moto(environ)

    def run(
        self, form: dict[str, str], environ: dict[str, Any]
    ) -> tuple[str, list[tuple[str, str]], bytes]:
        """RunInstances: once for each token, and only if there are hosts enough."""
        token, count = form.get("ClientToken", ""), int(form["MinCount"])
        if token in self.tokens:
            return self.tokens[token]
        if self._hosts.offered and not self._hosts.wait_for(count):
            text = ERROR.format(code="InsufficientInstanceCapacity", message="No hosts are left.")
            return "500 Error", [("Content-Type", "text/xml")], text.encode()
        found = self.ask_moto(environ)
        if found[0].startswith("200"):
            self.tokens[token] = found
        return found

    def ask_moto(self, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
        seen: list[Any] = []
        content = b"".join(self._moto(environ, lambda *words: seen.extend(words[:2])))
        return seen[0], seen[1], content

    def next_fault(self, action: str, form: dict[str, str]) -> dict[str, Any] | None:
        with self._lock:
            if action:
                self.calls.append(action)
            for each in self.faults:
                if each["action"] != action or (each["zone"] and each["zone"] != zone_of(form)):
                    continue
                if each["skip"]:
                    each["skip"] -= 1
                    return None
                each["times"] -= 1
                if not each["times"]:
                    self.faults.remove(each)
                return each
        return None

    def control(self, what: str, body: bytes) -> Any:
        """What a test orders, or asks."""
        given = json.loads(body) if body else None
        found = getattr(self, f"do_{what}")
        return found(given)

    def do_reset(self, _: Any) -> None:
        """Nothing is anywhere; regions in which something was only looked for stay as they are."""
        for name in self._changed:
            region = ec2_backends[DEFAULT_ACCOUNT_ID].pop(name, None)
            for each in instances(region) if region else ():
                each.terminate()
        self._changed.clear()
        self.calls, self.faults, self.notices, self.tokens = [], [], {}, {}
        self.groups = PlacementGroups()
        with self._hosts.changed:
            self._hosts.free, self._hosts.dirty = [], []

    def do_calls(self, _: Any) -> list[str]:
        return self.calls

    def do_fault(self, given: dict[str, Any]) -> None:
        with self._lock:
            self.faults.append(given)

    def do_mend(self, _: Any) -> None:
        with self._lock:
            self.faults = []

    def do_notice(self, name: str) -> None:
        self.notices[name] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def do_take(self, name: str) -> None:
        """What happens to a spot machine two minutes after its notice."""
        found = named(name)
        found.terminate()
        found.state_reason.code = "Server.SpotInstanceTermination"
        found.state_reason.message = "Server.SpotInstanceTermination: Spot instance termination"
        self.notices.pop(name, None)

    def do_shut_down(self, name: str) -> str:
        """What happens to a machine that shuts itself down."""
        found = named(name)
        ends = found.instance_initiated_shutdown_behavior == "terminate"
        found.terminate() if ends else found.stop()
        return "terminated" if ends else "stopped"

    def do_instances(self, _: Any) -> list[dict[str, Any]]:
        """All that there ever were."""
        return [
            {
                "id": each.id,
                "region": region,
                "zone": each.availability_zone,
                "state": each.state,
                "type": each.instance_type,
                "address": self._hosts.address(each) or "",
                "tags": {tag["key"]: tag["value"] for tag in each.get_tags()},
                "launched": each.launch_time.isoformat(),
                "reason": each.state_transition_reason or "",
            }
            for region, backend in ec2_backends[DEFAULT_ACCOUNT_ID].items()
            for each in instances(backend)
        ]

    def do_groups(self, _: Any) -> list[str]:
        """Placement groups, and the security groups that somebody has made."""
        everywhere = ec2_backends[DEFAULT_ACCOUNT_ID].values()
        found = [each for backend in everywhere for each in backend.describe_security_groups()]
        return [*self.groups.tags, *(each.name for each in found if each.name != "default")]

    def do_leftovers(self, _: Any) -> list[str]:
        """What costs something and belongs to no machine."""
        found: list[str] = []
        for backend in ec2_backends[DEFAULT_ACCOUNT_ID].values():
            free = [each.id for each in backend.volumes.values() if each.attachment is None]
            found += [f"volume {name}" for name in free]
            cards = [each.id for each in backend.enis.values() if each.instance is None]
            found += [f"network interface {name}" for name in cards]
            found += [f"key pair {name}" for name in backend.key_pairs]
            found += [f"address {each.public_ip}" for each in backend.addresses]
        return found

    def do_hosts(self, given: list[dict[str, str]]) -> None:
        """These hosts are free."""
        with self._hosts.changed:
            addresses = {each["address"] for each in given}
            kept = [each for each in self._hosts.dirty if each["address"] not in addresses]
            self._hosts.dirty = kept
            self._hosts.free += given
            self._hosts.changed.notify_all()

    def do_work(self, _: Any) -> dict[str, list[str]]:
        """What is to be done to hosts: cleaned, and switched off while their machine is stopped."""
        with self._hosts.changed:
            dirty = [each["address"] for each in self._hosts.dirty]
            stopped = [
                host["address"]
                for name, host in self._hosts.used.items()
                if self._hosts.machines[name].state == "stopped"
            ]
            return {"dirty": dirty, "stopped": stopped}


def authorization(environ: dict[str, Any]) -> str:
    """Who asks, and in which region."""
    return str(environ.get("HTTP_AUTHORIZATION", ""))


def zone_of(form: dict[str, str]) -> str:
    subnet = form.get("NetworkInterface.1.SubnetId", "")
    for backend in ec2_backends[DEFAULT_ACCOUNT_ID].values():
        for each in backend.describe_subnets(subnet_ids=None):
            if each.id == subnet:
                return str(each.availability_zone)
    return ""


def instances(backend: Any) -> list[Any]:
    return [each for group in backend.reservations.values() for each in group.instances]


def named(name: str) -> Any:
    everywhere = ec2_backends[DEFAULT_ACCOUNT_ID].values()
    return next(each for backend in everywhere for each in instances(backend) if each.id == name)


def refuse(start: Start, fault: dict[str, Any]) -> list[bytes]:
    start(f"{fault['status']} Error", [("Content-Type", "text/xml")])
    return [ERROR.format(code=fault["code"], message=fault["message"]).encode()]


def pair(hosts: Hosts) -> None:
    """Let instances of moto be hosts."""
    begin, end = Instance.__init__, Instance.terminate

    def begins(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        hosts.take(self)

    def ends(self: Any) -> Any:
        if self.state == "terminated":  # moto fails, AWS does not
            return self.instance_state
        hosts.leave(self)
        return end(self)

    Instance.__init__, Instance.terminate = begins, ends
    for name in ("public_ip", "public_ip_address", "private_ip", "private_ip_address"):
        setattr(Instance, name, paired(vars(Instance)[name].fget, hosts))


def paired(plain: Callable[[Any], Any], hosts: Hosts) -> property:
    """The address of its host, or what moto says."""
    return property(lambda instance: hosts.address(instance) or plain(instance))


def main() -> None:
    """Serve until the input ends."""
    hosts = Hosts()
    pair(hosts)
    front = Front(DomainDispatcherApplication(create_backend_app), hosts)
    server = make_server("127.0.0.1", 0, front, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
