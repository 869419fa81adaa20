"""Google Compute Engine as a provider. A gang is one bulk insert, which makes all or nothing."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from trainway.providers.abilities import require
from trainway.providers.base import (
    OWNER_TAG,
    Ability,
    GangRequest,
    Identity,
    Machine,
    Notice,
    Place,
    living,
)
from trainway.providers.errors import ProviderError, Scope, Trouble, not_ours
from trainway.providers.gcp.requests import (
    EXISTS,
    GONE,
    MISSING,
    SETTINGS,
    bulk_insert,
    complaint,
    filter_of,
    firewall_names,
    firewalls,
    is_of_accelerator,
    last,
    machine,
    request_id,
)
from trainway.providers.settings import check
from trainway.providers.web_api import RefusalError, WebApi, bearer

ADDRESS: Final = "https://compute.googleapis.com/compute/v1"
SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
PAUSE_S: Final = 1.0
LIMIT_S: Final = 900.0


@dataclass(frozen=True)
class Login:
    """Who asks, with a token that is good for a while."""

    project: str
    token: str
    user: str = ""


def google_login() -> Callable[[], Login]:
    """Application Default Credentials, as Google's own programs find them."""
    from google.auth import default, exceptions  # noqa: PLC0415 - slow, and an extra
    from google.auth.transport import urllib3 as transport  # noqa: PLC0415 - slow, and an extra
    from urllib3 import PoolManager  # noqa: PLC0415 - comes with it

    make_request: Any = transport.Request  # without types
    lock = threading.Lock()
    found: list[Any] = []

    def login() -> Login:
        with lock:
            try:
                if not found:
                    found.extend(default(scopes=[SCOPE]))
                if not found[0].valid:
                    found[0].refresh(make_request(PoolManager()))
            except exceptions.GoogleAuthError as error:
                found.clear()
                raise no_credentials(str(error)) from error
            if not found[1]:
                raise no_credentials("no project is chosen")
            user = getattr(found[0], "service_account_email", "")
            return Login(str(found[1]), str(found[0].token), str(user))

    return login


def no_credentials(why: str) -> ProviderError:
    """What is said where nobody is logged in."""
    return ProviderError(
        f"Google Cloud: {why.partition(chr(10))[0]}",
        trouble=Trouble.CREDENTIALS,
        scope=Scope.CLOUD,
        hint="run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS; "
        "the project is read from there or from GOOGLE_CLOUD_PROJECT",
    )


class GcpProvider:
    """Machines of Google Cloud."""

    cloud = "gcp"

    def __init__(
        self,
        address: str = ADDRESS,
        login: Callable[[], Login] | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._login = login or google_login()
        self._pause = pause
        self._api = WebApi(
            "Google Cloud",
            address,
            bearer(lambda: self._login().token),
            complaint,
        )

    @cached_property
    def _project(self) -> str:
        return f"/projects/{self._login().project}"

    def missing(self) -> Mapping[Ability, str]:
        """A few things."""
        return MISSING

    def check(self) -> Identity:
        """Whether the project can be used."""
        found = self._api.get(self._project)
        source = "application default credentials"
        return Identity(str(found["name"]), self._login().user, source)

    def regions(self) -> list[str]:
        """All of Google."""
        return sorted(each["name"] for each in self._pages("/regions"))

    def quota(self, place: Place, instance_type: str, *, spot: bool) -> int | None:  # noqa: ARG002 - not asked
        """Not asked for."""
        return None

    def create(self, request: GangRequest) -> list[Machine]:
        """One zone after the other where none is named."""
        check(self.cloud, request.settings, SETTINGS)
        require("Google Cloud", request, MISSING)
        body = bulk_insert(request)
        found = self.find(request.place.region, request.owner, request.token)
        if len(found) == request.count:
            return found
        self._open(request)
        refused: ProviderError | None = None
        for zone in [found[0].place.zone] if found else self._zones(request.place):
            try:
                return self._insert(request, zone, body)
            except ProviderError as error:
                error.of_accelerator = is_of_accelerator(request, error)
                if error.scope is not Scope.ZONE:
                    raise
                refused = error
        assert refused is not None  # noqa: S101 - there is a zone at least
        if not request.place.zone:
            refused.scope = Scope.REGION
        raise refused

    def find(self, region: str, owner: str, token: str = "") -> list[Machine]:
        """By labels, in all zones of the region."""
        found = [machine(each) for each in self._instances(filter_of(owner, token))]
        return living(each for each in found if each.place.region == region)

    def stop(self, region: str, machines: Sequence[str]) -> None:
        """They keep their disks."""
        del region
        self._each("POST", machines, "/stop")

    def start(self, region: str, machines: Sequence[str]) -> None:
        """They get other public addresses."""
        del region
        self._each("POST", machines, "/start")

    def end(self, region: str, machines: Sequence[str]) -> None:
        """Only what carries our label; what is not in the list may be too new.

        It is waited for: until then nothing tells a machine that ends from one that stops.
        """
        del region
        if not machines:
            return
        labels = {machine(each).id: each.get("labels") or {} for each in self._instances("")}
        foreign = [each for each in machines if OWNER_TAG not in labels.get(each, {OWNER_TAG: ""})]
        wanted = [each for each in machines if each not in foreign]
        for operation in self._each("DELETE", wanted, ""):
            self._wait(operation)
        if foreign:
            raise not_ours("Google Cloud", foreign)

    def release(self, region: str, owner: str, cluster: str) -> None:
        """The rules of its firewall, which hold in all regions."""
        del region
        for name in firewall_names(owner, cluster):
            try:
                self._api.send("DELETE", f"{self._project}/global/firewalls/{name}")
            except RefusalError as error:
                if error.code != GONE:
                    raise

    def notices(self, region: str, machines: Sequence[str]) -> list[Notice]:  # noqa: ARG002 - none
        """They are only told inside the machine."""
        return []

    def _insert(self, request: GangRequest, zone: str, body: object) -> list[Machine]:
        region = request.place.region
        path = f"{self._project}/zones/{zone}/instances/bulkInsert"
        try:
            answer = self._api.send("POST", f"{path}?requestId={request_id(request, zone)}", body)
            self._wait(answer)
        except ProviderError as error:
            if error.trouble is not Trouble.UNREACHABLE:
                self.end(region, self._ids(request))
            raise
        found = self.find(region, request.owner, request.token)
        if len(found) == request.count:
            return found
        self.end(region, [each.id for each in found])
        raise ProviderError(
            f"Google Cloud: only {len(found)} of {request.count} machines are left",
            trouble=Trouble.CAPACITY,
            scope=Scope.ZONE,
            spot_only=request.spot,
        )

    def _ids(self, request: GangRequest) -> list[str]:
        found = self.find(request.place.region, request.owner, request.token)
        return [each.id for each in found]

    def _wait(self, operation: Mapping[str, Any]) -> None:
        """Until an operation is done; raises what went wrong in it."""
        waited = 0.0
        while operation.get("status") != "DONE" and waited < LIMIT_S:
            self._pause(PAUSE_S)
            waited += PAUSE_S
            zone, name = last(operation.get("zone")), operation["name"]
            operation = self._api.get(f"{self._project}/zones/{zone}/operations/{name}")
        if operation.get("error"):
            status = int(operation.get("httpErrorStatusCode") or 400)
            raise RefusalError("Google Cloud", status, complaint(status, operation))

    def _open(self, request: GangRequest) -> None:
        for rule in firewalls(request):
            try:
                self._api.send("POST", f"{self._project}/global/firewalls", rule)
            except RefusalError as error:
                if error.code != EXISTS:
                    raise

    def _zones(self, place: Place) -> list[str]:
        if place.zone:
            return [place.zone]
        found = self._api.get(f"{self._project}/regions/{place.region}")
        return sorted(last(each) for each in found.get("zones") or [])

    def _each(self, method: str, machines: Sequence[str], action: str) -> list[Any]:
        """Begin something with each of them; one that is gone is left out."""
        begun = []
        for each in machines:
            zone, _, name = each.partition("/")
            try:
                path = f"{self._project}/zones/{zone}/instances/{name}{action}"
                begun.append(self._api.send(method, path))
            except RefusalError as error:
                if error.code != GONE:
                    raise
        return begun

    def _instances(self, wanted: str) -> list[dict[str, Any]]:
        query = {"filter": wanted} if wanted else {}
        zones = self._pages("/aggregated/instances", **query)
        return [each for zone in zones for each in zone.get("instances") or []]

    def _pages(self, path: str, **query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            answer = self._api.get(f"{self._project}{path}", **query)
            items = answer.get("items") or []
            found += items.values() if isinstance(items, dict) else items
            following = answer.get("nextPageToken")
            if not following:
                return found
            query["pageToken"] = following
