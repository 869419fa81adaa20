"""What goes wrong on the way to an API server, in words for a user, with what may help."""

from collections.abc import Iterator
from contextlib import contextmanager

from trainway.errors import ForbiddenError, UnavailableError
from trainway.kube.errors import Refused, ServerUnavailable, Throttled, Unauthorized
from trainway.kube.kubeconfig import KubeconfigError
from trainway.kube.webhook_failure import webhook_failure


@contextmanager
def worded(context: str) -> Iterator[None]:
    """Errors of the API server of a context as those a user sees."""
    try:
        yield
    except KubeconfigError as error:
        # The file may come back: no job fails for that.
        raise UnavailableError(
            f"context {context} cannot be used: {error.message}", hint=error.hint
        ) from error
    except (ServerUnavailable, Throttled, Unauthorized) as error:
        if failure := webhook_failure(error.message, context):
            raise UnavailableError(failure.message, hint=failure.hint) from error
        raise UnavailableError(
            f"the cluster of context {context} cannot be used now: {error.message}",
            hint=error.hint or f"try: kubectl --context {context} get ns",
        ) from error
    except Refused as error:
        raise ForbiddenError(
            error.message, hint=f"ask somebody who has the right in context {context}"
        ) from error
