"""Data caches of a server: jobs that have the label of a cache."""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from trainway.api.task.storage_remote import PREFIX
from trainway.data.flight.contract import HEAD, HEAD_LISTENS, TOKEN
from trainway.data.flight.objects import CacheSpec, cache_objects
from trainway.data.opening import local_path, locate
from trainway.data.uri import HUB, OBJECT_STORES, has_scheme, parse
from trainway.errors import ConflictError, NotFoundError, UsageError
from trainway.families.family import Files, Runs
from trainway.families.table import family_of
from trainway.jobset.labels import DATA_CACHE
from trainway.sdk.client import Client
from trainway.sdk.job import Job

_PROBE_S: Final = 2.0
_LOOKED_AT: Final = 1000


@dataclass(frozen=True)
class Cache:
    """A cache, and how it stands."""

    spec: CacheSpec
    job: Job
    backend: str
    host: str

    @property
    def address(self) -> str:
        """For `TableDataset` and TRAINWAY_CACHE_ADDRESS; empty while nobody knows the host."""
        if self.spec.in_pods:
            return f"cache://{self.spec.head}"
        return f"cache://{self.host}:{self.spec.port}" if self.host else ""

    def status(self) -> tuple[str, str]:
        """A word, and what there is to say about it."""
        if self.job.done() and self.job.status == "Failed":
            error = self.job.exception()
            return "Failed", str(error).splitlines()[-1].rpartition(" ERROR ")[2].strip()
        if self.job.status == "Running" and self.spec.in_pods:
            return _in_pods(self.job.to_dict()["status"])
        if self.job.status != "Running" or not self.host:
            return self.job.status, str(self.job.to_dict()["status"]["message"] or "")
        return _probed(f"http://{self.host}:{self.spec.health_port}/ready")


def apply(client: Client, wanted: CacheSpec, on: str | None = None) -> tuple[Cache, bool]:
    """Have a cache; the flag says whether it was made now."""
    family = family_of(on)
    token = os.environ.get(TOKEN, "")
    spec = CacheSpec(
        wanted.name,
        table_of(wanted.table, is_here=family.files is Files.HERE),
        wanted.workers,
        wanted.image,
        is_here=family.files is Files.HERE,
        has_token=bool(token),
        python=wanted.python,
    )
    if (family.runs is Runs.PODS) != spec.in_pods:
        raise UsageError(
            f"{family.name} runs {'pods, which need' if not spec.in_pods else 'processes, without'}"
            " an image",
            hint="--image names an image with Python and trainway[cache]; only pods have one",
        )
    found = {each.spec.name: each for each in caches(client)}.get(spec.name)
    if found is not None and not found.job.done():
        differs = difference(found, spec, on or found.backend)
        if differs:
            raise ConflictError(
                f"there is a cache {spec.name} already, and it is another one: {differs}",
                hint=f"use another name, or run: trainway cache delete {spec.name}",
            )
        return found, False
    keys = table_keys(spec.table) if spec.in_pods else {}
    job = client.run(cache_objects(spec, token, keys), on=on)
    return _cache(job, spec), True


def difference(found: Cache, wanted: CacheSpec, on: str) -> str:
    """What a cache has, and not what is asked for; empty: it is the same."""
    pairs = {
        "table": (found.spec.table, wanted.table),
        "place": (found.backend, on),
        "number of workers": (str(found.spec.workers), str(wanted.workers)),
        "image": (found.spec.image, wanted.image),
        "Python": (found.spec.python, wanted.python),
    }
    told = [
        f"its {what} is {has}, not {asked}" for what, (has, asked) in pairs.items() if has != asked
    ]
    if found.spec.has_token != wanted.has_token:
        told.append(f"it {'has a' if found.spec.has_token else 'has no'} token ({TOKEN})")
    return " and ".join(told)


def caches(client: Client) -> list[Cache]:
    """All caches, the newest of each name."""
    found: dict[str, Cache] = {}
    for job in client.jobs(labels={DATA_CACHE: None}):
        spec = _spec(job.to_dict())
        if spec is not None:
            found.setdefault(spec.name, _cache(job, spec))
    return [found[name] for name in sorted(found)]


def delete(client: Client, name: str) -> None:
    """Remove a cache; jobs that read it fail after a while."""
    mine = client.jobs(labels={DATA_CACHE: name})
    if not mine:
        raise NotFoundError(f"there is no cache {name}", hint="see: trainway cache ls")
    for job in mine:
        job.delete(force=True)


def _cache(job: Job, spec: CacheSpec) -> Cache:
    data = job.to_dict()
    host = "127.0.0.1" if spec.is_here else "" if spec.in_pods else _told_host(job)
    return Cache(spec, job, str(data["spec"]["backend"]), host)


def _told_host(job: Job) -> str:
    """Where the head is, as it says itself: jobs need not know the names that a pool has."""
    lines = [line.text for line in job.logs(role=HEAD, tail=_LOOKED_AT)]
    found = [match[1] for line in lines if (match := HEAD_LISTENS.search(line))]
    return found[-1] if found else ""


def _spec(data: Mapping[str, Any]) -> CacheSpec | None:
    for each in data["spec"].get("objects") or ():
        written = (each["metadata"].get("annotations") or {}).get(DATA_CACHE)
        if written:
            try:
                return CacheSpec(**json.loads(written))
            except (TypeError, ValueError):
                return None
    return None


def table_of(table: str, *, is_here: bool) -> str:
    """As it is called where the cache runs."""
    if has_scheme(table):
        parse(table)
        return table
    if is_here:
        path = local_path(locate(table))
        if not path.exists():
            hint = (
                "name a Parquet file, a folder with such files, or the metadata of an Iceberg table"
            )
            raise NotFoundError(f"there is no {table} here", hint=hint)
        return str(path)
    if not table.startswith("/"):
        raise UsageError(
            f"{table} is not a URI", hint="write a URI, or the whole path that it has on the hosts"
        )
    return table


def table_keys(table: str) -> dict[str, str]:
    """Our own credentials for a table, which pods have not, as variables that we read ourselves."""
    from trainway.sdk.task_storage import own_variables  # noqa: PLC0415 - only for pods

    scheme = table.partition("://")[0].lower() if has_scheme(table) else ""
    found = own_variables(scheme) if scheme in (*OBJECT_STORES, HUB) else {}
    return {name: text for name, text in found.items() if not name.startswith(PREFIX)}


def _in_pods(status: Mapping[str, Any]) -> tuple[str, str]:
    """A pod is ready when the process in it can be read."""
    nodes = {str(node["role"]): node for node in status.get("nodes") or ()}
    head = nodes.get(HEAD) or {}
    if head.get("ready"):
        return "Ready", ""
    return "Loading", str(head.get("message") or status.get("message") or "")


def _probed(url: str) -> tuple[str, str]:
    try:
        with urllib.request.urlopen(url, timeout=_PROBE_S):  # noqa: S310 - http
            return "Ready", ""
    except urllib.error.HTTPError as error:
        try:
            return "Loading", str(json.load(error)["reason"])
        except (ValueError, KeyError, TypeError):
            return "Unknown", f"it answers with {error.code}"
    except OSError as error:
        return "Starting", f"its head does not answer yet: {error}"
