"""Clouds of which machines are rented: who we are there, and what was forgotten there."""

from collections.abc import Mapping
from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.engine.rental.clouds import Checked
from trainway.engine.rental.report import rented_view
from trainway.json_types import Json
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH


class Cloud(Shown):
    """A cloud, and whether machines can be rented there."""

    name: str
    usable: bool = Field(description="whether its credentials are good")
    account: str = Field(description="the account, project or subscription")
    user: str
    source: str = Field(description="where its credentials were found; never their value")
    regions: list[str] = Field(description="where this account may have machines")
    problem: str = Field(description="why it cannot be used; empty: it can")
    hint: str = Field(description="what to do about that")
    missing: dict[str, str] = Field(description="what its provider cannot do, and why")


class CloudList(Shown):
    """All clouds for which there is a provider."""

    items: list[Cloud]


class Rented(Shown):
    """Machines that are rented for a cluster or a worker of a pool."""

    cluster: str
    cloud: str = Field(description="empty: the best offer is still looked for")
    region: str
    zone: str
    instance_type: str
    spot: bool
    reservation: str = Field(description="what they are taken out of; empty: nothing")
    nodes: int
    state: str
    hourly_price: float = Field(description="what all of them cost now, in dollars an hour")
    message: str
    since: str = Field(description="when they were asked for")


class Refusal(Shown):
    """Something that a cloud has refused."""

    cloud: str
    region: str
    zone: str
    instance_type: str
    spot: bool
    error: str
    at: str


class RentedList(Shown):
    """What is rented, and what was refused."""

    items: list[Rented]
    refusals: list[Refusal] = Field(description="the latest, newest first")


class SweepRequest(BaseModel):
    """Whether machines are ended, or only listed."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    dry_run: bool = Field(True, alias="dryRun")


class Orphan(Shown):
    """A machine that this server has made and that nobody needs."""

    cloud: str
    region: str
    id: str
    cluster: str
    token: str = Field(description="the request that it was made for")
    instance_type: str
    state: str
    ended: bool = Field(description="whether it was ended now")
    problem: str = Field(description="why it was not")


class Sweep(Shown):
    """What a sweep has found."""

    machines: list[Orphan]
    problems: list[str] = Field(description="where it could not look, and why")
    places: list[str] = Field(description="the regions in which it has looked: `aws/us-east-1`")


def add_cloud_routes(api: Api, engine: Engine) -> None:
    """The routes of clouds."""
    office = engine.rental_office

    @api.get(f"{BASE_PATH}/clouds", tags=["clouds"], response_model=CloudList)
    async def clouds() -> Response:
        """See for each cloud whose credentials this server has, and where it may have machines."""
        return JsonAnswer({"items": [_cloud(each) for each in await office.rentals.check()]})

    @api.get(f"{BASE_PATH}/clouds/rented", tags=["clouds"], response_model=RentedList)
    async def rented() -> Response:
        """What is rented of clouds, and what they have refused lately; no cloud is asked."""
        if not office.is_open:
            return JsonAnswer({"items": [], "refusals": []})
        items = [rented_view(each) for each in office.rentals.all()]
        return JsonAnswer({"items": items, "refusals": office.rentals.refusals()})

    @api.post(f"{BASE_PATH}/clouds/sweep", tags=["clouds"], response_model=Sweep)
    async def sweep(body: SweepRequest) -> Response:
        """List machines that this server made and does not know any more, and end them if asked.

        Only what carries the id of this server is looked at.
        """
        report = await office.rentals.sweep(dry_run=body.dry_run)
        machines = [_camel(asdict(each)) for each in report.machines]
        told = {"problems": list(report.problems), "places": list(report.places)}
        return JsonAnswer({"machines": machines, **told})


def _cloud(checked: Checked) -> Json:
    who = checked.identity
    return {
        "name": checked.cloud,
        "usable": who is not None,
        "account": who.account if who else "",
        "user": who.user if who else "",
        "source": who.source if who else "",
        "regions": list(checked.regions),
        "problem": checked.problem,
        "hint": checked.hint,
        "missing": {str(ability): why for ability, why in (checked.missing or {}).items()},
    }


def _camel(fields: Mapping[str, object]) -> Json:
    return {"instanceType" if name == "instance_type" else name: fields[name] for name in fields}
