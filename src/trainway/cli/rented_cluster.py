"""Waits for a cluster whose machines are rented, and says meanwhile what is tried."""

import time
from collections.abc import Callable

from trainway.cli.output import echo_line
from trainway.cli.refusal import RefusedError
from trainway.json_types import Json
from trainway.sdk.cluster_rest import ClusterRest
from trainway.sdk.rented_cluster import settled, why_none


def until_up(rest: ClusterRest, cluster: Json, pause: Callable[[float], None] = time.sleep) -> Json:
    """The cluster once its nodes are there; other clusters are not waited for."""
    cluster = settled(rest, cluster, echo_line, pause)
    if why := why_none(cluster):
        raise RefusedError(why, 1)
    return cluster
