"""What clients of the pool agent may ask for; `socket` lists it.

Whatever is wrong with a request is answered, in one sentence, and concerns nobody else.
"""

from __future__ import annotations

import traceback

from trainway.agent.base.plan import PlanError
from trainway.agent.pool.clusters import OPERATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.pool.pool import Pool
    from trainway.agent.supervisor.answers import SocketAnswer
    from trainway.agent.supervisor.control import Answer
    from trainway.json_types import Json


JOB_OPERATIONS = ("cancel", "suspend", "resume", "resize", "leave", "forget")
HAPPENED = ("leave", "forget")
"""What has been done with a job that is not here."""


def handle(pool: Pool, request: Json, answer: Answer) -> None:
    """Carry out a request."""
    try:
        _handle(pool, request, answer)
    except Exception as error:  # noqa: BLE001 - a bad request is the client's problem alone
        pool.log(traceback.format_exc())
        answer({"ok": False, "error": f"{request.get('op')}: {error!r}"})


def _handle(pool: Pool, request: Json, answer: Answer) -> None:
    operation = request.get("op")
    if operation == "status":
        answer(pool.status())
    elif operation == "configure":
        environ: Json = request.get("environ") or {}
        pool.configure(list(request["hosts"]), {key: str(environ[key]) for key in environ})
        answer({"ok": True})
    elif operation == "lend":
        pool.lending.take(request)
        answer({"ok": True})
    elif operation == "drain":
        _drain(pool, str(request["host"]), request, answer)
    elif operation == "submit":
        _submit(pool, str(request["directory"]), answer)
    elif operation in OPERATIONS:
        pool.clusters.handle(request, answer)
    elif operation in JOB_OPERATIONS:
        _handle_job(pool, request, answer)
    else:
        answer({"ok": False, "error": f"no such operation: {operation}"})


def _drain(pool: Pool, name: str, terms: Json, answer: Answer) -> None:
    host = pool.host(name)
    if host is None or host.retired:
        names = ", ".join(item.name for item in pool.hosts() if not item.retired)
        unknown: SocketAnswer = {
            "ok": False,
            "code": "not_found",
            "error": f"there is no host {name} in the pool",
            "hint": f"its hosts are {names}" if names else "it has no hosts",
        }
        answer(unknown)
    elif pool.drains.set(name, terms):
        answer({"ok": True})
    else:
        answer({"ok": False, "error": "it could not be written down: is the disk full?"})


def _submit(pool: Pool, path: str, answer: Answer) -> None:
    try:
        pool.submit(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, PlanError) as error:
        answer({"ok": False, "error": f"{path} cannot be run: {error}"})
    else:
        answer({"ok": True})


def _handle_job(pool: Pool, request: Json, answer: Answer) -> None:
    gang = pool.gang(str(request.get("id")))
    if gang is None:
        message = f"there is no job {request.get('id')} here"
        unknown: SocketAnswer = {"ok": False, "code": "not_found", "error": message}
        answer({"ok": True} if request["op"] in HAPPENED else unknown)
        return
    if request["op"] == "forget":
        failure = pool.guarded(gang, gang.forget, answer)
    else:
        failure = pool.guarded(gang, gang.handle, request, answer)
    if failure:
        answer({"ok": False, "error": failure})
