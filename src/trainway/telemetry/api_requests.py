"""Requests to API servers of Kubernetes, as client-go counts them.

The operator has them, and a server that runs jobs in clusters.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from trainway.telemetry.metric import Sample, counter

API_REQUESTS: Final = counter(
    "rest_client_requests_total",
    "Requests to the API server, by verb and status; `<error>` where there was no answer",
    *("code", "host", "method"),
)

Answers = Mapping[tuple[str, str], int]
"""How many answers there were, by method and status."""


def request_samples(asked: Iterable[tuple[str, Answers]]) -> Iterator[Sample]:
    """The series, of clients with their hosts; several may speak to the same API server."""
    total: dict[tuple[str, str, str], int] = {}
    for host, answers in asked:
        for (method, code), count in answers.items():
            total[code, host, method] = total.get((code, host, method), 0) + count
    for labels, count in total.items():
        yield Sample(API_REQUESTS, labels, count)
