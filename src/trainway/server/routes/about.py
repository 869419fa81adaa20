"""The server itself: health, runtimes, backends, and stopping it."""

import asyncio
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response

from trainway.backends.base import Capacity
from trainway.errors import NotFoundError, TrainwayError
from trainway.server import models
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service

Json = dict[str, Any]


def add_about_routes(app: FastAPI, service: Service) -> None:
    """Everything that is not about a job."""
    info = service.info

    @app.get(f"{BASE_PATH}/health", tags=["server"], response_model=models.Health)
    async def health() -> Response:
        """Whether the server works."""
        return JSONResponse({"status": "ok", "version": info.version, "pid": info.pid})

    @app.get(f"{BASE_PATH}/server", tags=["server"], response_model=models.ServerStatus)
    async def server() -> Response:
        """The process, and how many jobs there are."""
        active, total = await service.engine.reading.counts()
        return JSONResponse(
            {
                "pid": info.pid,
                "socket": info.socket,
                "version": info.version,
                "started": info.started,
                "jobs": {"active": active, "total": total},
            }
        )

    @app.post(f"{BASE_PATH}/server/stop", tags=["server"])
    async def stop() -> Response:
        """End the server; jobs run on, and the next server adopts them."""
        asyncio.get_running_loop().call_soon(service.stopping.set)
        return JSONResponse({"status": "stopping"})

    @app.get(f"{BASE_PATH}/runtimes", tags=["server"], response_model=models.RuntimeList)
    async def runtimes() -> Response:
        """The built-in training runtimes."""
        return JSONResponse({"items": await asyncio.to_thread(_runtimes)})

    @app.get(f"{BASE_PATH}/runtimes/{{name}}", tags=["server"])
    async def runtime(name: str) -> Response:
        """One training runtime."""
        return JSONResponse(await asyncio.to_thread(_runtime, name))

    @app.get(f"{BASE_PATH}/backends", tags=["server"], response_model=models.BackendList)
    async def backends() -> Response:
        """Every backend: what it has and can do, and what is wrong with it."""
        names = service.engine.registry.names()
        return JSONResponse(
            {"items": [await asyncio.to_thread(_backend, service, name) for name in names]}
        )


def _runtimes() -> list[Json]:
    from trainway.runtimes import builtin_runtimes  # noqa: PLC0415 - pulls in the YAML reader

    return builtin_runtimes()


def _runtime(name: str) -> Json:
    from trainway.runtimes import builtin_runtime, names  # noqa: PLC0415 - see above

    found = builtin_runtime(name)
    if found is None:
        raise NotFoundError(f"there is no runtime {name!r}", hint=f"there are {', '.join(names())}")
    return found


def _backend(service: Service, name: str) -> Json:
    try:
        backend = service.engine.registry.get(name)
        capacity = backend.capacity()
    except TrainwayError as error:
        check = {"name": "load", "ok": False, "detail": error.message, "fix": error.hint or ""}
        return {"name": name, "checks": [check], "capabilities": {}, "capacity": None}
    checks = [
        {"name": check.name, "ok": check.ok, "detail": check.detail, "fix": check.fix}
        for check in backend.check()
    ]
    return {
        "name": name,
        "checks": checks,
        "capabilities": {str(key): why for key, why in backend.capabilities().items()},
        "capacity": {
            "total": _capacity(capacity),
            "free": _capacity(service.engine.free(name)),
        },
    }


def _capacity(capacity: Capacity) -> Json:
    return {
        "cpu": str(capacity.cpus),
        "memory": str(capacity.memory),
        "gpus": list(capacity.gpus),
    }
