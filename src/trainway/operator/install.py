"""Installs the operator into a cluster, and removes it, by server-side apply.

Installing twice is like installing once. The order matters: kinds before objects of them, and the
webhooks last, since from then on the API server asks an operator that may only just be starting.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from trainway.errors import UnavailableError
from trainway.json_types import Json
from trainway.kube.client import Client
from trainway.kube.connection import load_connection
from trainway.kube.errors import AlreadyExists, ApiError, ObjectNotFound
from trainway.kube.resources import (
    DEPLOYMENTS,
    JOBSETS,
    NAMESPACES,
    PODS,
    Resource,
    resource_of,
)
from trainway.operator import manifests
from trainway.operator.installed_objects import MANAGED_BY, SELECTOR
from trainway.operator.manifest_text import manifest_text
from trainway.operator.manifests import FIELD_OWNER, Installation
from trainway.operator.rollout import has_no_image, is_up, troubles
from trainway.operator.user_roles import user_roles

Tell = Callable[[str], None]

_PATIENCE_SECONDS: Final = 60.0
_ROLLOUT_SECONDS: Final = 300.0
_POLL_SECONDS: Final = 0.2
CRDS: Final = "crds"
RUNTIMES: Final = "runtimes"


async def install(client: Client, installation: Installation, tell: Tell) -> None:
    """Bring the cluster to what the manifests say; `tell` gets a line for each object."""
    await install_crds(client, tell)
    await _create_namespace(client, installation, tell)
    for obj in [*manifests.access(installation), *manifests.settings(installation)]:
        await _apply(client, obj, tell)
    await install_runtimes(client, tell)
    for obj in [*manifests.manager(installation), *manifests.webhooks(installation)]:
        await _apply(client, obj, tell)
    if not await client.serves(JOBSETS):
        tell(
            f"warning: the cluster does not serve {JOBSETS}: no job runs until JobSet is installed"
        )


async def install_user_roles(client: Client, tell: Tell) -> None:
    """The roles that an administrator binds to people."""
    for role in user_roles():
        await _apply(client, role, tell)


async def wait_until_up(client: Client, installation: Installation) -> None:
    """Return when the operator's pods are ready; say what keeps them if they do not get there."""
    where = installation.namespace
    selector = ",".join(f"{name}={value}" for name, value in SELECTOR.items())
    deadline = time.monotonic() + _ROLLOUT_SECONDS
    while not is_up(await client.get(DEPLOYMENTS, manifests.NAME, where)):
        found = troubles((await client.list(PODS, where, label_selector=selector)).items)
        if has_no_image(found) or time.monotonic() > deadline:
            told = "; ".join(found)
            raise UnavailableError(
                "the operator's pods are not ready" + (f": {told}" if told else ""),
                hint=f"see `kubectl describe pods -n {where} -l {selector}`",
            )
        await asyncio.sleep(_POLL_SECONDS)


async def install_crds(client: Client, tell: Tell) -> None:
    """The kinds, served when this returns."""
    crds = manifests.crds()
    for crd in crds:
        await _apply(client, crd, tell)
    for crd in crds:
        await _wait_until_served(client, served_resource(crd))


async def install_runtimes(client: Client, tell: Tell) -> None:
    """The built-in runtimes; their kind may have been defined just now."""
    for runtime in manifests.runtimes():
        await _wait(
            partial(_is_runtime_applied, client, runtime, tell),
            UnavailableError(
                f"cannot install {label(runtime)}: the cluster does not serve its kind",
                hint="run `trainway operator install --only crds` first",
            ),
        )


async def uninstall(client: Client, installation: Installation, tell: Tell, *, crds: bool) -> None:
    """Remove the operator. Jobs, runtimes and their kinds stay, unless `crds` is set."""
    for obj in removals(installation, crds=crds):
        await _delete(client, obj, tell)
    if not crds:
        tell("kept: custom resource definitions, jobs and runtimes (--crds removes them)")
        tell(f"kept: namespace {installation.namespace}")
        return
    for crd in manifests.crds():
        await _wait_until_gone(client, crd)
    namespace = manifests.namespace(installation)
    found = await _found(client, namespace)
    name, value = MANAGED_BY
    if found is not None and (found["metadata"].get("labels") or {}).get(name) != value:
        tell(
            f"kept: namespace {installation.namespace}, which existed before the operator was"
            " installed"
        )
    else:
        await _delete(client, namespace, tell)
        await _wait_until_gone(client, namespace)


def removals(installation: Installation, *, crds: bool) -> list[Json]:
    """What is removed, in this order: first what stands between people and their objects."""
    installed = [
        *manifests.webhooks(installation),
        *reversed(manifests.manager(installation)),
        *manifests.settings(installation),
        *reversed(manifests.access(installation)),
        *user_roles(),
    ]
    return [*installed, *(manifests.crds() if crds else ())]


def served_resource(crd: Json) -> Resource:
    """The resource that a CustomResourceDefinition defines."""
    spec = crd["spec"]
    return Resource(
        spec["group"],
        spec["versions"][0]["name"],
        spec["names"]["plural"],
        spec["names"]["kind"],
        spec["scope"] == "Namespaced",
    )


def label(obj: Json) -> str:
    """How an object is called in a line: `deployment.apps/name`."""
    resource = resource_of(obj)
    group = f".{resource.group}" if resource.group else ""
    return f"{resource.kind.lower()}{group}/{obj['metadata']['name']}"


def is_contained(wanted: object, found: object) -> bool:
    """Whether all that is wanted is there; the API server adds defaults of its own."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return all(name in found and is_contained(v, found[name]) for name, v in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(is_contained, wanted, found))
    return wanted == found


async def _apply(client: Client, obj: Json, tell: Tell) -> None:
    before = await _found(client, obj)
    after = await client.apply(obj, field_manager=FIELD_OWNER)
    if before is None:
        outcome = "created"
    elif before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]:
        outcome = "unchanged"
    else:
        outcome = "configured"
    tell(f"{label(obj)} {outcome}")


async def _apply_runtime(client: Client, runtime: Json, tell: Tell) -> None:
    """Like others, but left alone where it is the same: a webhook may be asked about a change."""
    before = await _found(client, runtime)
    if before is not None and is_contained(runtime, before):
        tell(f"{label(runtime)} unchanged")
        return
    await _apply(client, runtime, tell)


async def _is_runtime_applied(client: Client, runtime: Json, tell: Tell) -> bool:
    """Write a runtime; False: its kind is not served yet."""
    try:
        await _apply_runtime(client, runtime, tell)
    except ObjectNotFound:
        return False
    return True


async def _create_namespace(client: Client, installation: Installation, tell: Tell) -> None:
    """A namespace that is there is someone's, and stays as it is."""
    namespace = manifests.namespace(installation)
    before = await _found(client, namespace)
    if before is not None and "deletionTimestamp" in before["metadata"]:
        await _wait_until_gone(client, namespace)
    try:
        await client.create(NAMESPACES, namespace, field_manager=FIELD_OWNER)
        tell(f"{label(namespace)} created")
    except AlreadyExists:
        tell(f"{label(namespace)} unchanged")


async def _found(client: Client, obj: Json) -> Json | None:
    metadata = obj["metadata"]
    try:
        return await client.get(resource_of(obj), metadata["name"], metadata.get("namespace", ""))
    except ObjectNotFound:
        return None


async def _delete(client: Client, obj: Json, tell: Tell) -> None:
    metadata = obj["metadata"]
    try:
        await client.delete(resource_of(obj), metadata["name"], metadata.get("namespace", ""))
        tell(f"{label(obj)} deleted")
    except ObjectNotFound:
        tell(f"{label(obj)} not found")


async def _wait_until_served(client: Client, resource: Resource) -> None:
    await _wait(
        lambda: _is_listed(client, resource),
        UnavailableError(
            f"the cluster does not serve {resource} although its definition exists",
            hint=f"see `kubectl describe crd {resource}`",
        ),
    )


async def _wait_until_gone(client: Client, obj: Json) -> None:
    async def is_gone() -> bool:
        return await _found(client, obj) is None

    problem = f"{label(obj)} is still being deleted"
    hint = "a finalizer may block the deletion; see its metadata.finalizers"
    await _wait(is_gone, UnavailableError(problem, hint=hint))


async def _wait(condition: Callable[[], Awaitable[bool]], problem: UnavailableError) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not await condition():
        if time.monotonic() > deadline:
            raise problem
        await asyncio.sleep(_POLL_SECONDS)


async def _is_listed(client: Client, resource: Resource) -> bool:
    """Whether objects of the kind can be had; discovery alone says so a little too early."""
    try:
        await client.raw("GET", f"{resource.path()}?limit=1")
    except ObjectNotFound:
        return False
    except ApiError as error:
        if error.status == 429:
            return False
        raise
    return True


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """The flags of `install` and `uninstall`."""
    default = Installation()
    parser.add_argument(
        "--namespace",
        default=default.namespace,
        metavar="NS",
        help=f"The operator's own namespace (default {default.namespace}).",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="Print the objects, and change nothing."
    )
    if command == "install":
        parser.add_argument(
            "--image",
            default=default.image,
            help=f"The image of the operator (default {default.image}).",
        )
        parser.add_argument(
            "--replicas",
            type=_count,
            default=default.replicas,
            metavar="N",
            help=f"The number of the operator's pods (default {default.replicas}).",
        )
        parser.add_argument(
            "--user-roles",
            action="store_true",
            help="Also install the ClusterRoles trainway-view, trainway-run and trainway-exec,"
            " which you can bind to users.",
        )
        parser.add_argument(
            "--wait", action="store_true", help="Wait until the operator's pods are ready."
        )
        parser.add_argument(
            "--only",
            choices=(CRDS, RUNTIMES),
            help="Install only the custom resource definitions, or only the built-in runtimes.",
        )
    else:
        parser.add_argument(
            "--crds",
            action="store_true",
            help="Also remove the custom resource definitions, and with them all jobs and"
            " runtimes.",
        )


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be greater than 0")
    return number


async def main(options: argparse.Namespace) -> int:
    """Run `install` or `uninstall`; the exit status."""
    is_install = options.command == "install"
    installation = Installation(namespace=options.namespace)
    if is_install:
        installation = replace(installation, image=options.image, replicas=options.replicas)
    if options.dry_run:
        _tell_all(
            preview(installation, options.only, has_user_roles=options.user_roles)
            if is_install
            else _removal_lines(installation, options)
        )
        return 0
    async with Client(load_connection(options.kubeconfig, options.context)) as client:
        if is_install:
            await _install(client, installation, options)
        else:
            await uninstall(client, installation, _tell, crds=options.crds)
    return 0


async def _install(client: Client, installation: Installation, options: argparse.Namespace) -> None:
    if options.only == CRDS:
        await install_crds(client, _tell)
    elif options.only == RUNTIMES:
        await install_runtimes(client, _tell)
    else:
        _warn_of_image(installation)
        await install(client, installation, _tell)
    if options.user_roles:
        await install_user_roles(client, _tell)
    if options.wait and not options.only:
        await wait_until_up(client, installation)
        _tell(f"deployment.apps/{manifests.NAME} ready")


def _warn_of_image(installation: Installation) -> None:
    if installation.image == Installation.image:
        sys.stderr.write(
            f"warning: the image {installation.image} is not published: the operator starts only"
            " on nodes that have it. Build one with `docker build -t"
            " REGISTRY/trainway/operator:TAG .`, push it, and name it with --image.\n"
        )


def preview(
    installation: Installation, only: str | None = None, *, has_user_roles: bool = False
) -> list[str]:
    """What `install` applies, as YAML that `kubectl apply --server-side` takes."""
    parts = {CRDS: manifests.crds, RUNTIMES: manifests.runtimes}
    objects = parts[only]() if only else manifests.everything(installation)
    objects += user_roles() if has_user_roles else []
    return [manifest_text(objects).rstrip("\n")]


def _removal_lines(installation: Installation, options: argparse.Namespace) -> list[str]:
    return [f"{label(obj)} would be deleted" for obj in removals(installation, crds=options.crds)]


def _tell_all(lines: Sequence[str]) -> None:
    for line in lines:
        _tell(line)


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
