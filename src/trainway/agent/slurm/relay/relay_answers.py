"""What a relay says of the machine that it is on, and of what it does not do."""

from __future__ import annotations

import os
import pwd
import shutil
import sys

from trainway.agent.base import launch
from trainway.agent.slurm.relay.slurm_failure import Silence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.base.directory import Directory
    from trainway.agent.slurm.relay.relay_frames import (
        FactsAnswer,
        HelloAnswer,
        RelayAnswer,
        SlurmFacts,
        Trouble,
    )
    from trainway.agent.transfer.ssh_failure import Failure

CONTAINER_TOOLS = ("apptainer", "singularity")


def hello_answer(home: Directory) -> HelloAnswer:
    """Where this is, and which relay it is."""
    return {
        "ok": True,
        "home": home.path,
        "user": user(),
        "host": os.uname().nodename,
        "python": list(sys.version_info[:3]),
        "version": launch.digest(),
    }


def facts_answer(facts: SlurmFacts, rest: str, home: Directory) -> FactsAnswer:
    """What Slurm says of the cluster, and what is to be found on this machine."""
    tools = [tool for tool in CONTAINER_TOOLS if shutil.which(tool)]
    return {
        "ok": True,
        "version": facts["version"],
        "cluster": facts["cluster"],
        "accounting": facts["accounting"],
        "partitions": facts["partitions"],
        "whole": facts["whole"],
        "mpi": facts["mpi"],
        "containers": (["pyxis"] if facts["pyxis"] else []) + tools,
        "rest": rest,
        "home": home.path,
        "writable": os.access(home.path, os.W_OK),
        "python": list(sys.version_info[:3]),
        "user": user(),
    }


def refusal(message: str, hint: str = "") -> RelayAnswer:
    """The answer to what cannot be done."""
    return {"ok": False, "error": message, "hint": hint}


def refusal_of(failure: Failure) -> RelayAnswer:
    """The answer to what Slurm does not do; after silence one may ask again."""
    answer = refusal(failure.message, failure.hint)
    if isinstance(failure, Silence):
        answer["retry"] = True
    return answer


def trouble_of(failure: Failure | None) -> Trouble:
    """What is said, without a question, when Slurm does not answer or does again."""
    trouble: Trouble = {"event": "trouble"}
    if failure is not None:
        trouble["error"] = failure.message
        trouble["hint"] = failure.hint
    if isinstance(failure, Silence):
        trouble["retry"] = True
    return trouble


def user() -> str:
    """The name of whoever runs the relay, or the number of one without a name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
