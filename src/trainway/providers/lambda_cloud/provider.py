"""Lambda as a provider. Machines are made one at a time, and found by their tags."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from trainway.providers import one_by_one
from trainway.providers.abilities import require
from trainway.providers.api_key import api_key
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
from trainway.providers.errors import not_ours
from trainway.providers.lambda_cloud.requests import (
    GONE,
    MISSING,
    SETTINGS,
    complaint,
    is_of,
    launch,
    machine,
    marks_of,
    region_of,
)
from trainway.providers.settings import check
from trainway.providers.web_api import RefusalError, WebApi, bearer

ADDRESS: Final = "https://cloud.lambda.ai/api/v1"
KEY_VARIABLE: Final = "LAMBDA_API_KEY"
KEY_FILE: Final = Path(".lambda_cloud", "lambda_keys")


def own_key() -> tuple[str, str]:
    """The key, and where it was found."""
    remedy = (
        f"write `api_key = ...` to ~/{KEY_FILE}; keys are made at https://cloud.lambda.ai/api-keys"
    )
    return api_key("Lambda", KEY_VARIABLE, KEY_FILE, ("api_key",), remedy)


class LambdaProvider:
    """Machines of Lambda."""

    cloud = "lambda"

    def __init__(self, address: str = ADDRESS) -> None:
        self._api = WebApi("Lambda", address, bearer(lambda: own_key()[0]), complaint)

    def missing(self) -> Mapping[Ability, str]:
        """All but machines."""
        return MISSING

    def check(self) -> Identity:
        """Lambda does not say whose key it is, only whether it is good."""
        self._api.get("/ssh-keys")
        return Identity("the account of the API key", source=own_key()[1])

    def regions(self) -> list[str]:
        """Those with room for anything now, and those in which we have machines."""
        kinds = self._api.get("/instance-types")["data"].values()
        free = [each for kind in kinds for each in kind["regions_with_capacity_available"]]
        return sorted({*(each["name"] for each in free), *map(region_of, self._instances())})

    def quota(self, place: Place, instance_type: str, *, spot: bool) -> int | None:  # noqa: ARG002 - not told
        """Lambda does not say."""
        return None

    def create(self, request: GangRequest) -> list[Machine]:
        """One after the other."""
        check(self.cloud, request.settings, SETTINGS)
        require("Lambda", request, MISSING)
        region = request.place.region

        def make(rank: int) -> str:
            body = launch(request, rank, self._key_name(request.public_key))
            answer = self._api.send_once("POST", "/instance-operations/launch", body)
            return str(answer["data"]["instance_ids"][0])

        return one_by_one.create(
            request,
            lambda: self.find(region, request.owner, request.token),
            make,
            lambda machines: self.end(region, machines),
        )

    def find(self, region: str, owner: str, token: str = "") -> list[Machine]:
        """By tags, in the order of their ranks."""
        found = [machine(each) for each in self._instances() if is_of(each, region, owner, token)]
        return living(found)

    def stop(self, region: str, machines: Sequence[str]) -> None:
        """Not to be had."""
        raise one_by_one.unstoppable("Lambda", MISSING[Ability.STOP], region, machines)

    def start(self, region: str, machines: Sequence[str]) -> None:
        """Not to be had."""
        self.stop(region, machines)

    def end(self, region: str, machines: Sequence[str]) -> None:
        """Only what carries our tag, wherever it is; what is not in the list may be too new."""
        del region
        listed = {str(each["id"]): OWNER_TAG in marks_of(each) for each in self._instances()}
        foreign = [each for each in machines if not listed.get(each, True)]
        self._terminate([each for each in machines if listed.get(each)])
        for each in machines:
            if each not in listed:
                self._terminate([each])
        if foreign:
            raise not_ours("Lambda", foreign)

    def release(self, region: str, owner: str, cluster: str) -> None:
        """Nothing else is made for a cluster."""

    def notices(self, region: str, machines: Sequence[str]) -> list[Notice]:  # noqa: ARG002 - none
        """Lambda takes no machine back."""
        return []

    def _terminate(self, machines: Sequence[str]) -> None:
        if not machines:
            return
        try:
            body = {"instance_ids": list(machines)}
            self._api.send("POST", "/instance-operations/terminate", body)
        except RefusalError as error:
            if error.code != GONE:
                raise

    def _instances(self) -> list[dict[str, Any]]:
        return list(self._api.get("/instances")["data"])

    def _key_name(self, public_key: str) -> str:
        """Lambda wants a key that it knows by name; it stays, and serves all clusters."""
        words = public_key.split()[:2]
        name = f"trainway-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:16]}"
        for each in self._api.get("/ssh-keys")["data"]:
            if each.get("name") == name or each.get("public_key", "").split()[:2] == words:
                return str(each["name"])
        body = {"name": name, "public_key": public_key.strip()}
        self._api.send("POST", "/ssh-keys", body)
        return name
