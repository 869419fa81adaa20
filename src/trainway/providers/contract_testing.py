"""What the engine relies on, whatever the cloud: each provider's tests are a subclass of this.

The tests of a provider give it a cloud of its own in which nobody else has machines, and a type and
place that it has.
"""

import uuid
from dataclasses import replace

import pytest

from trainway.providers.base import (
    COSTS_NOTHING,
    Ability,
    GangRequest,
    Machine,
    MachineState,
    Place,
    Provider,
)
from trainway.providers.errors import ProviderError, Scope, Trouble

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB8Htqbu8GJ8vS0Q1xXx2mGkO2bQY0gq3nE2Qe2n0a8a trainway"
OWNER = "server-1"


def gang(place: Place, instance_type: str, count: int = 2) -> GangRequest:
    """A request that nobody has made before."""
    token = uuid.uuid4().hex
    return GangRequest(token, OWNER, f"c-{token[:6]}", place, instance_type, count, KEY)


def ids(machines: list[Machine]) -> list[str]:
    """Which machines they are."""
    return [each.id for each in machines]


class ProviderContract:
    """A subclass has the fixture `provider`, and says what is made there."""

    place = Place("east", "east-a")
    instance_type = "small"
    several = True
    """Whether gangs of several machines can be had."""

    @pytest.fixture
    def provider(self) -> Provider:
        """The provider, with a cloud of its own."""
        raise NotImplementedError

    def request(self) -> GangRequest:
        """A request of this cloud; two machines where it has gangs."""
        return gang(self.place, self.instance_type, 2 if self.several else 1)

    def running(self, provider: Provider, request: GangRequest) -> list[Machine]:
        """The machines of a request, when all of them run."""
        for _ in range(20):
            found = provider.find(request.place.region, request.owner, request.token)
            if found and all(each.state is MachineState.RUNNING for each in found):
                return sorted(found, key=lambda each: each.rank)
        raise AssertionError(f"they do not run: {found}")

    def test_credentials_name_their_account(self, provider: Provider) -> None:
        """People see whose money it is."""
        assert provider.check().account

    def test_the_region_is_one_of_the_account(self, provider: Provider) -> None:
        """What the optimizer may choose from."""
        assert self.place.region in provider.regions()

    def test_what_is_missing_has_a_reason(self, provider: Provider) -> None:
        """Nobody is told a bare no."""
        for ability, why in provider.missing().items():
            assert ability in Ability
            assert why

    def test_a_gang_runs_and_can_be_reached(self, provider: Provider) -> None:
        """All of it, numbered, with addresses, and as what was asked for."""
        request = self.request()
        made = provider.create(request)
        found = self.running(provider, request)

        assert ids(found) == ids(made)
        assert [each.rank for each in found] == list(range(request.count))
        for each in found:
            assert (each.token, each.cluster) == (request.token, request.cluster)
            assert each.place.region == self.place.region
            assert each.instance_type == self.instance_type
            assert each.public_address or each.private_address
            assert each.user
            assert not each.spot

    def test_the_same_token_finds_what_the_first_has_made(self, provider: Provider) -> None:
        """So a server that was killed may ask again."""
        request = self.request()
        first = provider.create(request)
        again = provider.create(request)

        assert ids(again) == ids(first)
        assert len(provider.find(self.place.region, OWNER)) == request.count

    def test_machines_are_found_by_owner_and_by_token(self, provider: Provider) -> None:
        """And never those of somebody else."""
        mine, other = self.request(), replace(self.request(), owner="server-2")
        provider.create(mine)
        provider.create(other)
        region = self.place.region

        assert {each.token for each in provider.find(region, OWNER)} == {mine.token}
        assert {each.token for each in provider.find(region, "server-2")} == {other.token}
        assert provider.find(region, OWNER, other.token) == []
        assert provider.find(region, "server-3") == []

    def test_what_is_ended_is_gone_and_may_be_ended_again(self, provider: Provider) -> None:
        """A sweep may come at any time."""
        request = self.request()
        made = ids(provider.create(request))
        provider.end(self.place.region, made)
        provider.end(self.place.region, made)
        provider.end(self.place.region, [])

        assert provider.find(self.place.region, OWNER) == []
        provider.release(self.place.region, OWNER, request.cluster)
        provider.release(self.place.region, OWNER, request.cluster)

    def test_one_of_a_gang_can_be_ended(self, provider: Provider) -> None:
        """A cluster is repaired node by node."""
        request = replace(self.request(), count=2)
        if Ability.SEVERAL_NODES in provider.missing():
            with pytest.raises(ProviderError):
                provider.create(request)
            return
        provider.create(request)
        first, second = self.running(provider, request)
        provider.end(self.place.region, [first.id])

        assert ids(provider.find(self.place.region, OWNER)) == [second.id]

    def test_a_stopped_gang_starts_again(self, provider: Provider) -> None:
        """With its names and ranks."""
        if Ability.STOP in provider.missing():
            with pytest.raises(ProviderError):
                provider.stop(self.place.region, ["m"])
            return
        request = replace(self.request(), ends_by_shutdown=False)
        made = ids(provider.create(request))
        self.running(provider, request)
        provider.stop(self.place.region, made)
        stopped = provider.find(self.place.region, OWNER)

        assert {each.state for each in stopped} <= {MachineState.STOPPING, MachineState.STOPPED}
        assert sorted(ids(stopped)) == sorted(made)
        provider.start(self.place.region, made)
        assert ids(self.running(provider, request)) == made

    def test_spot_machines_are_told_apart(self, provider: Provider) -> None:
        """What they cost depends on it."""
        request = replace(self.request(), spot=True)
        if Ability.SPOT in provider.missing():
            with pytest.raises(ProviderError):
                provider.create(request)
            return
        provider.create(request)
        found = self.running(provider, request)

        assert all(each.spot for each in found)
        assert provider.notices(self.place.region, ids(found)) == []

    def test_a_type_that_there_is_not_is_an_error_of_ours(self, provider: Provider) -> None:
        """It says how much not to try again, and leaves nothing."""
        with pytest.raises(ProviderError) as caught:
            provider.create(replace(self.request(), instance_type="no-such-type"))

        assert caught.value.trouble in {Trouble.INVALID, Trouble.CAPACITY}
        assert caught.value.scope is not Scope.NONE
        assert [
            each
            for each in provider.find(self.place.region, OWNER)
            if each.state not in COSTS_NOTHING
        ] == []
