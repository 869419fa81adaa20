"""The server itself: health, runtimes, backends, and stopping it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from starlette.responses import Response

from trainway.backends import capabilities
from trainway.backends.base import Backend, Capacity, Check, Feature, free_of
from trainway.backends.capabilities import Probing
from trainway.backends.pools import Limit, Pool
from trainway.errors import ConflictError, NotFoundError, TrainwayError
from trainway.json_types import Json
from trainway.server import about_models, models
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.paths import BASE_PATH
from trainway.server.service import Service
from trainway.server.tokens import write_new_token


def add_about_routes(api: Api, service: Service) -> None:
    """Everything that is not about a job."""
    info = service.info

    @api.get(f"{BASE_PATH}/health", tags=["server"], response_model=about_models.Health)
    async def health() -> Response:
        """Whether the server works."""
        return JsonAnswer({"status": "ok", "version": info.version, "pid": info.pid})

    @api.get(f"{BASE_PATH}/server", tags=["server"], response_model=about_models.ServerStatus)
    async def server() -> Response:
        """The process, and how many jobs there are."""
        active, total = await service.engine.reading.counts()
        return JsonAnswer(
            {
                "pid": info.pid,
                "socket": info.socket,
                "version": info.version,
                "started": info.started,
                "jobs": {"active": active, "total": total},
                "home": str(service.web.folder),
                "database": service.engine.reading.database,
                "token": {"file": str(service.token.path), "given": service.token.is_given},
            }
        )

    @api.post(f"{BASE_PATH}/server/stop", tags=["server"])
    async def stop() -> Response:
        """End the server; jobs run on, and the next server adopts them."""
        asyncio.get_running_loop().call_soon(service.stopping.set)
        return JsonAnswer({"status": "stopping"})

    @api.get(f"{BASE_PATH}/runtimes", tags=["server"], response_model=models.RuntimeList)
    async def runtimes() -> Response:
        """The built-in training runtimes."""
        return JsonAnswer({"items": await asyncio.to_thread(_runtimes)})

    @api.get(f"{BASE_PATH}/runtimes/{{name}}", tags=["server"])
    async def runtime(name: str) -> Response:
        """One training runtime."""
        return JsonAnswer(await asyncio.to_thread(_runtime, name))

    @api.post(f"{BASE_PATH}/server/token", tags=["server"], response_model=about_models.Token)
    async def rotate() -> Response:
        """Replace the token; whoever has shown the one before is cut off."""
        if service.token.is_given:
            raise ConflictError(
                f"the server was started with the token in {service.token.path}",
                hint="write another one into that file; the server takes it up at once",
            )
        token = await asyncio.to_thread(write_new_token, service.token.path)
        return JsonAnswer({"token": token}, headers={"Cache-Control": "no-store"})


def add_backend_routes(api: Api, service: Service) -> None:
    """Where jobs can run."""

    @api.get(f"{BASE_PATH}/backends", tags=["server"], response_model=about_models.BackendNames)
    async def backends() -> Response:
        """The names of all backends. Nothing is asked of them."""
        names = service.engine.registry.infras()
        return JsonAnswer({"items": [{"name": name} for name in names]})

    @api.post(
        f"{BASE_PATH}/backends/check", tags=["server"], response_model=about_models.BackendList
    )
    async def check(body: about_models.BackendCheck) -> Response:
        """Every backend: what it has and can do, and what is wrong with it.

        To find out, programs are run that the kubeconfig files name, and hosts are logged in to.
        """
        files = list(body.kubeconfig)
        names = [body.backend] if body.backend else service.engine.registry.infras(files)
        found = [_backend(service, name, files, deep=body.deep) for name in names]
        return JsonAnswer({"items": await asyncio.gather(*found)})


def _runtimes() -> list[Json]:
    from trainway.runtimes import builtin_runtimes  # noqa: PLC0415 - pulls in the YAML reader

    return builtin_runtimes()


def _runtime(name: str) -> Json:
    from trainway.runtimes import builtin_runtime, names  # noqa: PLC0415 - see above

    found = builtin_runtime(name)
    if found is None:
        raise NotFoundError(
            f"there is no runtime {name!r}", hint=f"the built-in runtimes are {', '.join(names())}"
        )
    return found


async def _backend(service: Service, name: str, kubeconfig: list[str], *, deep: bool) -> Json:
    try:
        backend = service.engine.registry.get(name, kubeconfig)
        await capabilities.survey(backend)
        if deep and isinstance(backend, Probing):
            await backend.probe()
        found = await asyncio.to_thread(_Found.at, backend)
        return _backend_view(service, backend, found)
    except TrainwayError as error:
        check = {"name": "load", "ok": False, "detail": error.message, "fix": error.hint or ""}
        return {"name": name, "checks": [check], "capabilities": {}, "capacity": None}


@dataclass(frozen=True)
class _Found:
    """What a backend says of itself; to find that out, files are read and programs are run."""

    capacity: Capacity
    checks: list[Check]
    features: Mapping[Feature, str] | None
    """None: so much is wrong with it that it cannot say."""

    @classmethod
    def at(cls, backend: Backend) -> Self:
        """Ask it. Takes its time: call it in a thread."""
        capacity, checks = capabilities.capacity(backend), capabilities.check(backend)
        is_well = not backend.schedules or all(check.ok for check in checks)
        can_say = is_well or bool(capacity.pools)
        return cls(capacity, checks, capabilities.features(backend) if can_say else None)


def _backend_view(service: Service, backend: Backend, found: _Found) -> Json:
    checks = [
        {"name": check.name, "ok": check.ok, "detail": check.detail, "fix": check.fix}
        for check in found.checks
    ]
    if found.features is None:
        return {"name": backend.name, "checks": checks, "capabilities": {}, "capacity": None}
    capacity = found.capacity
    free = free_of(capacity) if backend.schedules else service.engine.free(backend, capacity)
    return {
        "name": backend.name,
        "checks": checks,
        "capabilities": {str(key): why for key, why in found.features.items()},
        "capacity": {
            "total": _capacity(capacity),
            "free": _capacity(free),
            "pools": [_pool(pool) for pool in capacity.pools],
            "limits": [_limit(limit) for limit in capacity.limits],
        },
    }


def _capacity(capacity: Capacity) -> Json:
    return {
        "cpu": str(capacity.cpus),
        "memory": str(capacity.memory),
        "gpus": list(capacity.gpus),
    }


def _pool(pool: Pool) -> Json:
    return {
        "name": pool.name,
        "nodes": pool.nodes,
        "total": {"cpu": str(pool.cpus), "memory": str(pool.memory), "gpus": dict(pool.gpus)},
        "free": {
            "cpu": str(pool.free_cpus),
            "memory": str(pool.free_memory),
            "gpus": dict(pool.free_gpus),
        },
    }


def _limit(limit: Limit) -> Json:
    return {
        "name": limit.name,
        "resource": limit.resource,
        "hard": str(limit.hard),
        "used": str(limit.used),
    }
