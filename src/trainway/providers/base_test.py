"""What may follow what in the life of a machine, and the tags by which it is found again."""

from trainway.providers.base import (
    CLUSTER_TAG,
    COSTS_NOTHING,
    FOLLOWING,
    OWNER_TAG,
    RANK_TAG,
    TOKEN_TAG,
    GangRequest,
    MachineState,
    Place,
    tags,
)


def test_every_state_can_end_and_nothing_follows_the_end() -> None:
    assert set(FOLLOWING) == set(MachineState)
    assert not FOLLOWING[MachineState.ENDED]
    for state in set(MachineState) - {MachineState.ENDED}:
        assert MachineState.ENDED in FOLLOWING[state]


def test_what_costs_nothing_never_costs_again() -> None:
    for state in COSTS_NOTHING:
        assert FOLLOWING[state] <= COSTS_NOTHING


def test_labels_of_a_user_never_hide_our_tags() -> None:
    labels = {OWNER_TAG: "somebody else", "team": "vision"}
    request = GangRequest("t1", "s1", "c1", Place("us-east-1"), "p5", 2, "ssh-x", labels=labels)

    assert tags(request, 1) == {
        "team": "vision",
        "Name": "trainway-c1-1",
        OWNER_TAG: "s1",
        CLUSTER_TAG: "c1",
        TOKEN_TAG: "t1",
        RANK_TAG: "1",
    }
