"""Lists of all hosts of a job, which are counted before they are made.

A number of pods is written in a few characters; what names each of them is as long as they are
many. Where such a list is needed, no more hosts are named than a Kubernetes cluster has pods.
"""

from typing import Final

from trainway.errors import InvalidError

MOST_HOSTS: Final = 150_000
"""The most hosts of a job: as many pods as a Kubernetes cluster is made for."""


def host_indexes(role: str, count: int) -> range:
    """The numbers of the pods of a role, for a list of them; InvalidError where it is too long."""
    if count > MOST_HOSTS:
        raise InvalidError(
            [f"{role}: {count:,} pods cannot be listed by name; the limit is {MOST_HOSTS:,}"]
        )
    return range(count)
