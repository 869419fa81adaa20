"""What a request needs."""

from dataclasses import replace
from typing import Any

import pytest

from trainway.providers.abilities import needed, require, shutdown_effect
from trainway.providers.base import Ability, MachineState, Place
from trainway.providers.contract_testing import gang
from trainway.providers.errors import ProviderError, Scope, Trouble

PLAIN = gang(Place("east"), "small", 1)


@pytest.mark.parametrize(
    ("change", "ability"),
    [
        ({"spot": True}, Ability.SPOT),
        ({"count": 2}, Ability.SEVERAL_NODES),
        ({"ports": ["80"]}, Ability.OPEN_PORTS),
        ({"image": "x"}, Ability.IMAGES),
        ({"disk_gib": 10}, Ability.DISK_SIZE),
        ({"disk_tier": "high"}, Ability.DISK_TIER),
        ({"reservation": "r"}, Ability.RESERVATIONS),
    ],
)
def test_what_is_wanted_must_be_there(change: dict[str, Any], ability: Ability) -> None:
    request = replace(PLAIN, **change)
    assert list(needed(request)) == [ability]
    require("cloud", request, {})
    require("cloud", PLAIN, {ability: "it has none"})
    with pytest.raises(ProviderError, match="cloud: it has none") as caught:
        require("cloud", request, {ability: "it has none"})
    assert (caught.value.trouble, caught.value.scope) == (Trouble.INVALID, Scope.CLOUD)


ENDS, STOPS = Ability.END_BY_SHUTDOWN, Ability.STOP_BY_SHUTDOWN


@pytest.mark.parametrize(
    ("missing", "ends", "spot", "effect"),
    [
        ((), True, False, MachineState.ENDED),
        ((), False, False, MachineState.STOPPED),
        ((), False, True, MachineState.ENDED),
        ((ENDS,), True, False, MachineState.STOPPED),
        ((ENDS,), False, True, MachineState.STOPPED),
        ((ENDS, STOPS), True, True, None),
        ((STOPS,), False, False, None),
    ],
)
def test_a_shutdown_ends_or_stops_a_machine_or_saves_nothing(
    missing: tuple[Ability, ...], ends: bool, spot: bool, effect: MachineState | None
) -> None:
    assert shutdown_effect(dict.fromkeys(missing, "why"), ends=ends, spot=spot) is effect
