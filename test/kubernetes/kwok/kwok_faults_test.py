"""The operator and its API server are killed in turn while gangs run: none is lost.

The cluster has two API servers on one etcd. The operator, its webhooks and whoever creates jobs use
the one that is killed; JobSet's controller, Kubernetes' own and the nodes use the other, so that
the gangs go on meanwhile. What happened is judged by a watch of the other one, which has no gap.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cluster.access import Access
from cluster.api_replica import ApiReplica
from cluster.kwok import KwokCluster
from gang_audit import GangAudit
from kwok_gangs import ALWAYS, NEVER, ONCE, Gang, create, runtimes
from kwok_operator import operating
from operator_process import OperatorProcess

from trainway.kube.client import Client
from trainway.kube.connection import load_connection

GANGS, KILLS = 100, 30
PATIENCE_S = 900.0
LOOK_S = 0.05


def gang(number: int) -> Gang:
    """2 to 8 pods; every tenth fails once, and every 25th for good."""
    fails = {7: ONCE}.get(number % 10, NEVER) if number % 25 != 24 else ALWAYS
    return Gang(f"gang-{number}", 2 + number % 7, fails)


async def watched(
    cluster: Access,
    door: Access,
    namespace: str,
    gangs: Sequence[Gang],
    allowed: Callable[[], int],
) -> GangAudit:
    """Create gangs as far as they are allowed, until all are there and have ended."""
    audit = GangAudit()
    async with (
        Client(load_connection(cluster.kubeconfig)) as watcher,
        Client(load_connection(door.kubeconfig)) as creator,
        audit.recording(watcher, namespace),
    ):
        for number, each in enumerate(gangs):
            while allowed() <= number:
                await asyncio.sleep(LOOK_S)
            await create(creator, namespace, each)
        await audit.wait_for_ends(gangs, PATIENCE_S)
    return audit


def disturb(
    number: int, operator: OperatorProcess, replica: ApiReplica, chance: random.Random
) -> None:
    """Kill the one or the other, and start it again."""
    time.sleep(chance.uniform(0, 1))
    if number % 2:
        replica.restart_api_server()
        return
    operator.kill()
    operator.start()
    if number % 10:
        operator.wait_ready()  # else the API server goes while it starts


def test_operator_and_api_server_killed_in_turn_thirty_times_lose_no_gang(
    kwok_cluster: KwokCluster, namespace: str, tmp_path: Path
) -> None:
    chance = random.Random(namespace)  # noqa: S311 (when to kill, no secret)
    gangs = [gang(number) for number in range(GANGS)]
    kwok_cluster.apply(*runtimes("1s"), namespace=namespace)
    replica = ApiReplica(kwok_cluster)
    replica.start_api_server()
    kills = 0
    with (
        operating(kwok_cluster, replica, namespace, tmp_path / "operator.log") as operator,
        ThreadPoolExecutor(1) as pool,
    ):
        story = watched(
            kwok_cluster, replica, namespace, gangs, lambda: GANGS * (kills + 1) // KILLS
        )
        watching = pool.submit(asyncio.run, story)
        try:
            while kills < KILLS:
                disturb(kills, operator, replica, chance)
                kills += 1
        finally:
            kills = KILLS  # whoever creates must come to an end
        if not operator.process.is_alive():
            operator.start()
        audit = watching.result()
    replica.kill_api_server()
    assert audit.problems(gangs) == []
    assert "Traceback" not in operator.log
