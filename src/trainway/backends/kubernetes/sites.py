"""Which cluster and namespace a name means: `k8s/CONTEXT[/NAMESPACE]`, or `k8s` alone.

A context may have slashes in its name, as Amazon's do, so the kubeconfig decides where it ends.
Reading a kubeconfig needs nothing of the extra `kubernetes`: a server that uses no cluster can
still say which ones there are.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trainway.errors import NotFoundError, UnavailableError, UsageError
from trainway.kube import kubeconfig as kubeconfigs

FAMILY: Final = "k8s"
POD: Final = "in-cluster"
"""The context of a server that runs in a pod and has no kubeconfig."""


@dataclass(frozen=True)
class Infra:
    """One place to run jobs."""

    kubeconfig: tuple[str, ...]
    """The kubeconfig files; none: the service account of the pod we run in."""
    context: str
    namespace: str
    """The namespace as the user named it; empty: that of the object, or of the context."""
    usual: str = ""
    """The namespace of the context."""

    @property
    def place(self) -> str:
        """The namespace for a job that names none."""
        return self.namespace or self.usual or "default"

    def namespace_for(self, named: str) -> str:
        """The namespace of an object that names one, or none."""
        if named and self.namespace and named != self.namespace:
            raise UsageError(
                f"the object is for namespace {named!r}, but --on says {self.namespace!r}",
                hint=f"leave out one of the two, or use --on {FAMILY}/{self.context}",
            )
        return named or self.place


def files_of(
    named: Sequence[str], environ: Mapping[str, str], home: Path | None = None
) -> tuple[str, ...]:
    """The kubeconfig files that count: those named, those of $KUBECONFIG, or the usual one."""
    if named:
        return tuple(named)
    ours = tuple(path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path)
    if ours:
        return ours
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return ()
    usual = (home or Path.home()) / ".kube" / "config"
    return (str(usual),) if kubeconfigs.is_there(usual) else ()


def places(files: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The name of every cluster, one for each context."""
    if files:
        names, _ = kubeconfigs.contexts(map(Path, files))
        return [f"{FAMILY}/{name}" for name in names]
    return [f"{FAMILY}/{POD}"] if environ.get("KUBERNETES_SERVICE_HOST") else []


def resolve(target: str, files: Sequence[str], environ: Mapping[str, str]) -> Infra:
    """What follows `k8s/` in a name, as the kubeconfig understands it."""
    if not files:
        return _in_pod(target, environ)
    paths = [Path(path) for path in files]
    if not any(kubeconfigs.is_there(path) for path in paths):
        raise UnavailableError(
            f"there is no kubeconfig {os.pathsep.join(files)}", hint="KUBECONFIG names it"
        )
    names, current = kubeconfigs.contexts(paths)
    context, namespace = _parted(target or current, names)
    if not context:
        raise UnavailableError(
            f"{os.pathsep.join(files)} has no current context",
            hint=f"name one: {', '.join(places(files, environ)) or 'there is none'}",
        )
    chosen = kubeconfigs.load(paths, context)
    own = chosen.context.text("namespace")
    return Infra(tuple(files), context, namespace, own)


def _in_pod(target: str, environ: Mapping[str, str]) -> Infra:
    context, _, namespace = target.partition("/")
    if not environ.get("KUBERNETES_SERVICE_HOST"):
        raise UnavailableError(
            "no cluster is configured: there is no kubeconfig",
            hint="set KUBECONFIG, or put one at ~/.kube/config",
        )
    if context not in ("", POD):
        raise NotFoundError(f"there is no context {context!r}", hint=f"there is {FAMILY}/{POD}")
    return Infra((), POD, namespace)


def _parted(target: str, names: Sequence[str]) -> tuple[str, str]:
    """Context and namespace."""
    if not target or target in names:
        return target, ""
    context, _, namespace = target.rpartition("/")
    if context in names:
        return context, namespace
    known = ", ".join(f"{FAMILY}/{name}" for name in names)
    raise NotFoundError(
        f"there is no context {context or target!r} in the kubeconfig", hint=f"there are: {known}"
    )
