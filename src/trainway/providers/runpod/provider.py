"""RunPod as a provider. Pods are made one at a time, and found by their variables."""

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
from trainway.providers.errors import ProviderError, Scope, Trouble, not_ours
from trainway.providers.runpod.requests import (
    END,
    GONE,
    LIST,
    MISSING,
    ON_DEMAND,
    SETTINGS,
    SPOT,
    complaint,
    kind,
    machine,
    marks_of,
    pod,
    variable,
)
from trainway.providers.settings import check, price_of
from trainway.providers.web_api import RefusalError, WebApi, bearer

ADDRESS: Final = "https://api.runpod.io"
KEY_VARIABLE: Final = "RUNPOD_API_KEY"
KEY_FILE: Final = Path(".runpod", "config.toml")
DATA_CENTERS: Final = "query { dataCenters { id } }"
BID: Final = (
    "query ($gpu: GpuTypeFilter, $price: GpuLowestPriceInput) "
    "{ gpuTypes(input: $gpu) { lowestPrice(input: $price) { minimumBidPrice } } }"
)


def own_key() -> tuple[str, str]:
    """The key, and where it was found."""
    remedy = f"run `runpod config`, which writes ~/{KEY_FILE}"
    return api_key("RunPod", KEY_VARIABLE, KEY_FILE, ("api_key", "apikey"), remedy)


class RunpodProvider:
    """Machines of RunPod."""

    cloud = "runpod"

    def __init__(self, address: str = ADDRESS) -> None:
        self._api = WebApi("RunPod", address, bearer(lambda: own_key()[0]), complaint)

    def missing(self) -> Mapping[Ability, str]:
        """All but single machines."""
        return MISSING

    def check(self) -> Identity:
        """Whose key it is."""
        found = self._ask(LIST)["myself"]
        return Identity(str(found["id"]), str(found.get("email") or ""), own_key()[1])

    def regions(self) -> list[str]:
        """Countries, which data centres are named after (`EU-SE-1`, `US-CA-2`)."""
        found = [str(each["id"]).split("-") for each in self._ask(DATA_CENTERS)["dataCenters"]]
        own = [each.place.region for each in map(machine, self._pods()) if each.place.region]
        return sorted({*own, *map(country, found)})

    def quota(self, place: Place, instance_type: str, *, spot: bool) -> int | None:  # noqa: ARG002 - not told
        """RunPod does not say."""
        return None

    def create(self, request: GangRequest) -> list[Machine]:
        """A gang is one machine here."""
        check(self.cloud, request.settings, SETTINGS)
        require("RunPod", request, MISSING)
        kind(request.instance_type)
        region = request.place.region

        def make(rank: int) -> str:
            body = pod(request, rank, self._bid(request) if request.spot else 0.0)
            answer = self._ask(SPOT if request.spot else ON_DEMAND, {"input": body}, once=True)
            made = next(iter(answer.values()))
            if not made:
                raise ProviderError(
                    "RunPod: it has made no machine",
                    trouble=Trouble.CAPACITY,
                    scope=Scope.ZONE,
                    spot_only=request.spot,
                )
            return str(made["id"])

        return one_by_one.create(
            request,
            lambda: self.find(region, request.owner, request.token),
            make,
            lambda machines: self.end(region, machines),
        )

    def find(self, region: str, owner: str, token: str = "") -> list[Machine]:
        """By the variables that we gave them."""
        ours = [each for each in self._pods() if marks_of(each).get(variable(OWNER_TAG)) == owner]
        found = [each for each in map(machine, ours) if each.place.region == region]
        return living(each for each in found if token in ("", each.token))

    def stop(self, region: str, machines: Sequence[str]) -> None:
        """Not to be had."""
        raise one_by_one.unstoppable("RunPod", MISSING[Ability.STOP], region, machines)

    def start(self, region: str, machines: Sequence[str]) -> None:
        """Not to be had."""
        self.stop(region, machines)

    def end(self, region: str, machines: Sequence[str]) -> None:
        """Only what has our variables; what is not in the list may be too new."""
        del region
        listed = {str(each["id"]): variable(OWNER_TAG) in marks_of(each) for each in self._pods()}
        foreign = [each for each in machines if not listed.get(each, True)]
        for each in machines:
            if each not in foreign:
                self._terminate(each)
        if foreign:
            raise not_ours("RunPod", foreign)

    def release(self, region: str, owner: str, cluster: str) -> None:
        """Nothing else is made for a cluster."""

    def notices(self, region: str, machines: Sequence[str]) -> list[Notice]:  # noqa: ARG002 - none
        """They are only told inside the machine."""
        return []

    def _bid(self, request: GangRequest) -> float:
        """What the user wants to pay, or what is the least at the moment."""
        if given := request.settings.get("spot_price"):
            return price_of(self.cloud, given)
        wanted = kind(request.instance_type)
        price = {"gpuCount": wanted.gpus, "secureCloud": wanted.cloud == "SECURE"}
        found = self._ask(BID, {"gpu": {"id": wanted.gpu}, "price": price})["gpuTypes"]
        least = (found[0].get("lowestPrice") or {}).get("minimumBidPrice") if found else None
        if not least:
            raise ProviderError(
                f"RunPod: there are no spot machines of the type {request.instance_type} now",
                trouble=Trouble.CAPACITY,
                scope=Scope.REGION,
                spot_only=True,
            )
        return float(least)

    def _terminate(self, name: str) -> None:
        try:
            self._ask(END, {"input": {"podId": name}})
        except RefusalError as error:
            if error.code != GONE:
                raise

    def _pods(self) -> list[dict[str, Any]]:
        return list(self._ask(LIST)["myself"]["pods"])

    def _ask(
        self, query: str, variables: Mapping[str, Any] | None = None, *, once: bool = False
    ) -> dict[str, Any]:
        """GraphQL says what is wrong in an answer that looks well."""
        send = self._api.send_once if once else self._api.send
        answer = send("POST", "/graphql", {"query": query, "variables": dict(variables or {})})
        if not isinstance(answer, dict) or answer.get("errors") or not answer.get("data"):
            raise RefusalError("RunPod", 200, complaint(200, answer))
        return dict(answer["data"])


def country(words: Sequence[str]) -> str:
    """`EU-SE-1` is in SE, `US-CA-2` and `CA-MTL-1` are in US and CA."""
    is_continent = words[0] in ("EU", "EUR", "AP", "OC", "SEA", "AF") and len(words) > 1
    return words[1] if is_continent else words[0]
