"""What an API server refuses, in the words of whoever wants a job. Pure.

The API server's own words name resources and verbs. Newcomers need to know what to do: install the
operator, choose another name, ask for a role.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from trainway.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    TrainwayError,
    UnavailableError,
)
from trainway.kube.errors import (
    AlreadyExists,
    ApiError,
    InvalidObject,
    ObjectNotFound,
    Refused,
    ServerUnavailable,
)
from trainway.kube.user_rights import Task
from trainway.training.kinds import JobKind


@contextmanager
def explained(kind: JobKind, namespace: str, name: str = "") -> Iterator[None]:
    """Raise the error of an API server as one that says what to do."""
    try:
        yield
    except ApiError as error:
        raise explanation(error, kind, namespace, name) from None


def explanation(error: ApiError, kind: JobKind, namespace: str, name: str = "") -> TrainwayError:
    """The error in other words; the same one where there is nothing to add."""
    where = f' in namespace "{namespace}"' if namespace else ""
    match error:
        case ObjectNotFound() if error.details.get("kind") == "namespaces":
            return NotFoundError(
                f'there is no namespace "{namespace}"',
                hint="kubectl get namespaces lists them; name one with -n",
            )
        case ObjectNotFound() if name and error.details.get("name") == name:
            return NotFoundError(f'there is no {kind.title} "{name}"{where}')
        case ObjectNotFound():
            return UnavailableError(
                f"the cluster has no {kind.title}s: their CRD is not installed",
                hint="install Trainway's operator (trainway operator install), or ask the"
                " administrator of the cluster",
            )
        case AlreadyExists():
            hint = "choose another name, or delete that one first"
            return ConflictError(f'there is already {kind.one} "{name}"{where}', hint=hint)
        case Refused() if " cannot " in error.message:
            return ForbiddenError(
                f"you have no permission: {error.message}",
                hint=f"ask the administrator of the cluster to bind the ClusterRole {Task.RUN.role}"
                f" to you{where}",
            )
        case InvalidObject():
            return InvalidError([error.message])
        case ServerUnavailable() if not error.status and not error.hint:
            error.hint = (
                "see whether the cluster runs, and whether your kubeconfig names the right one"
            )
    return error
