from dataclasses import dataclass

import pytest

from trainway.backends.kubernetes.unschedulable import condensed

PREEMPTION = (
    " preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling,"
    " 2 No preemption victims found for incoming pod."
)


@dataclass(frozen=True)
class Case:
    name: str
    message: str
    words: str


@pytest.mark.parametrize(
    "case",
    [
        Case(
            "too little",
            "0/3 nodes are available: 1 node(s) had untolerated taint"
            " {node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu."
            + PREEMPTION,
            "none of 3 nodes fits: 2 have too little nvidia.com/gpu,"
            " 1 has the taint node-role.kubernetes.io/control-plane",
        ),
        Case(
            "the only node",
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption:"
            " 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
            "the only node does not fit: has too little cpu",
        ),
        Case(
            "several at once",
            "0/4 nodes are available: 1 Too many pods, 1 node(s) were unschedulable,"
            " 2 node(s) didn't match Pod's node affinity/selector.",
            "none of 4 nodes fits: 2 do not match the node selector, 1 has no room for a pod,"
            " 1 is cordoned",
        ),
        Case(
            "a taint with a value",
            "0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: gpu}.",
            "none of 2 nodes fits: 2 have the taint dedicated=gpu",
        ),
        Case(
            "what we have no words for",
            "0/2 nodes are available: 2 node(s) had no available disk.",
            "none of 2 nodes fits: 2 had no available disk",
        ),
        Case("no nodes", "0/0 nodes are available: .", "the cluster has no nodes"),
        Case(
            "a claim",
            '0/1 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/1 nodes'
            " are available: 1 Preemption is not helpful for scheduling.",
            "the PersistentVolumeClaim data does not exist",
        ),
        Case("another scheduler", "gang  has\nno room", "gang has no room"),
    ],
    ids=lambda case: case.name,
)
def test_words(case: Case) -> None:
    assert condensed(case.message) == case.words
