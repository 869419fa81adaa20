"""The client of a program: run something, get a Job."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainway.errors import UsageError
from trainway.sdk.address import Address
from trainway.sdk.job import Job
from trainway.sdk.manifests import Resources, Wishes
from trainway.sdk.rest import Json, Rest, Submission
from trainway.sdk.submitter import job_options
from trainway.sdk.targets import (
    MANIFESTS,
    SCRIPT,
    checked_objects,
    function_objects,
    manifest_objects,
    read_manifest,
    script_objects,
)

Target = Callable[..., Any] | str | Path | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Amount = str | int | float


class Client:
    """Speaks to a server: the embedded one, which it starts when none runs, or the one named.

    `server` is `http://host:port` or `unix:/path`; without it TRAINWAY_SERVER counts.
    """

    def __init__(self, server: str | None = None, *, token: str = "") -> None:
        self._rest = Rest.connect(server, token, _warn)

    @property
    def address(self) -> Address:
        """The server spoken to."""
        return self._rest.address

    def run(  # noqa: PLR0913 - every argument is one a user may want, by name
        self,
        target: Target,
        *,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        nodes: int | None = None,
        procs_per_node: int | None = None,
        gpus: Amount | None = None,
        cpus: Amount | None = None,
        memory: Amount | None = None,
        env: Mapping[str, str] | None = None,
        packages: Sequence[str] = (),
        name: str | None = None,
        runtime: str | None = None,
        priority: int = 0,
        restarts: int = 0,
        on: str | None = None,
        oversubscribe: bool = False,
        image: str | None = None,
        containers: bool = False,
    ) -> Job:
        """Submit a function, a script, a manifest or objects, and give the job.

        A function is called in every process with `args` and `kwargs`; a script gets `args`. There
        is one node unless `nodes` says more. Amounts are for each node, and written as in
        Kubernetes: `cpus=0.5`, `memory="4Gi"`. They replace what a manifest says. `packages` are
        installed for this job alone, before the function is called. With `image` it runs in
        containers of that image, by podman or docker; with `containers`, in those it names itself.
        `on` names another place, such as `k8s/CONTEXT`: a function or script travels there with the
        modules beside it, and what a function returns comes back.
        """
        resources = Resources(_amount(cpus), _amount(memory), _amount(gpus))
        wishes = Wishes(
            name,
            nodes,
            procs_per_node,
            resources,
            dict(env or {}),
            runtime,
            image,
            restarts,
            on,
            containers,
        )
        objects = _objects(target, wishes, args, kwargs, packages)
        if wishes.travels:
            _tell_what_stays(objects)
        options: Json = {
            **job_options(self._rest.address, prefer_our_python=True, backend=on),
            "priority": priority,
            "oversubscribe": oversubscribe,
            **wishes.isolation(),
        }
        if on is not None:
            options["backend"] = on
        data, warnings = self._rest.submit(Submission(objects, options))
        for warning in warnings:
            _warn(warning)
        return Job(self._rest, data)

    def job(self, ref: str) -> Job:
        """The job of that id, or the newest of that name."""
        return Job(self._rest, self._rest.get(ref))

    def jobs(
        self,
        *,
        name: str | None = None,
        phase: str | None = None,
        active: bool | None = None,
        limit: int = 100,
    ) -> list[Job]:
        """The newest jobs."""
        items, _ = self._rest.page(limit=limit, name=name, phase=phase, active=active)
        return [Job(self._rest, item) for item in items]

    def runtimes(self) -> list[Json]:
        """The training runtimes that the server knows."""
        return self._rest.runtimes()

    def backends(self) -> list[Json]:
        """Where jobs can run: checks and capacity."""
        return self._rest.backends()


def _objects(
    target: Target,
    wishes: Wishes,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    packages: Sequence[str],
) -> list[Json]:
    if callable(target):
        from trainway.sdk.functions import captured  # noqa: PLC0415 - inspect is slow to import

        return function_objects(captured(target, args, kwargs, packages), wishes)
    if kwargs or packages:
        raise UsageError("kwargs and packages are for functions")
    if isinstance(target, str | Path):
        path = Path(target)
        if path.suffix == SCRIPT:
            return script_objects(str(path), [str(arg) for arg in args], wishes)
        if path.suffix in MANIFESTS:
            return manifest_objects(read_manifest(path), str(path), wishes)
        raise UsageError(f"{path} is neither a Python script nor a manifest")
    items = [target] if isinstance(target, Mapping) else list(target)
    return checked_objects([dict(item) for item in items], "the objects", wishes)


def _tell_what_stays(objects: Sequence[Json]) -> None:
    from trainway.sdk.travel import staying  # noqa: PLC0415 - not for local jobs

    note = staying(objects)
    if note:
        _warn(note)


def _amount(value: Amount | None) -> str | None:
    return None if value is None else str(value)


def _warn(message: str) -> None:
    import warnings  # noqa: PLC0415 - seldom needed

    warnings.warn(message, stacklevel=3)
