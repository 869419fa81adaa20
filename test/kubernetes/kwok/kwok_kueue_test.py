"""Many gangs through Kueue: each is admitted whole, and the quota holds at every moment."""

import asyncio
from pathlib import Path

import pytest
from cluster.kueue import start_kueue
from cluster.kwok import KwokCluster
from gang_audit import GangAudit
from kueue_queues import queue_objects
from kwok_gangs import Gang, create, pods_of, runtimes
from kwok_operator import operating

from trainway.kube.client import Client
from trainway.kube.connection import load_connection

GANGS, QUOTA = 40, 48
QUEUE = "gangs"
PATIENCE_S = 900.0


def gang(number: int) -> Gang:
    """2 to 16 pods."""
    return Gang(f"gang-{number}", 2 + number * 4 % 15)


EARLY = [gang(2), gang(3)]
"""These have to run at the same time, and so they run for longer."""


@pytest.fixture(scope="module", autouse=True)
def kueue(kwok_cluster: KwokCluster) -> None:
    kwok_cluster.install_our_crds()
    start_kueue(kwok_cluster)


def test_gangs_are_admitted_whole_and_the_quota_holds(
    kwok_cluster: KwokCluster, namespace: str, tmp_path: Path
) -> None:
    gangs = [gang(number) for number in range(GANGS)]
    assert pods_of(gangs) > 5 * QUOTA
    kwok_cluster.apply(*runtimes("20s"), namespace=namespace)
    kwok_cluster.apply(*queue_objects(QUEUE, namespace, QUOTA))

    async def story() -> GangAudit:
        audit = GangAudit(may_change=True)
        async with (
            Client(load_connection(kwok_cluster.kubeconfig)) as client,
            audit.recording(client, namespace),
        ):
            for each in EARLY:
                await create(client, namespace, each, QUEUE)
            await audit.wait_for_pods(pods_of(EARLY), PATIENCE_S)
            kwok_cluster.apply(*runtimes("1s"), namespace=namespace)
            for each in gangs:
                if each not in EARLY:
                    await create(client, namespace, each, QUEUE)
            await audit.wait_for_ends(gangs, PATIENCE_S)
        return audit

    log_file = tmp_path / "operator.log"
    with operating(kwok_cluster, kwok_cluster, namespace, log_file) as operator:
        audit = asyncio.run(story())
    assert audit.problems(gangs) == []
    assert max(each.pods for each in gangs) < audit.most_alive <= QUOTA
    assert "Traceback" not in operator.log
