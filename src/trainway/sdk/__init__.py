"""The Python client: jobs submitted, watched and answered over the server's HTTP API.

Everything here talks to the server alone, which is started when none runs. What a program needs is
named below and imported when it is first used, because the command line starts here too.
"""

TYPE_CHECKING = False  # typing's constant; type checkers go by the name, and the import costs
if TYPE_CHECKING:
    from trainway.sdk.async_client import AsyncClient
    from trainway.sdk.async_job import AsyncJob
    from trainway.sdk.client import Client
    from trainway.sdk.failures import JobFailedError, WaitTimeoutError
    from trainway.sdk.job import Job
    from trainway.sdk.kubeflow import TrainerClient
    from trainway.sdk.log_line import LogLine
    from trainway.sdk.reporting import link, report
    from trainway.sdk.run import Run

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "Client",
    "Job",
    "JobFailedError",
    "LogLine",
    "Run",
    "TrainerClient",
    "WaitTimeoutError",
    "link",
    "report",
]

_MODULES = {
    "AsyncClient": "async_client",
    "AsyncJob": "async_job",
    "Client": "client",
    "Job": "job",
    "JobFailedError": "failures",
    "LogLine": "log_line",
    "Run": "run",
    "TrainerClient": "kubeflow",
    "WaitTimeoutError": "failures",
    "link": "reporting",
    "report": "reporting",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only what is asked for is paid for

    value: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
