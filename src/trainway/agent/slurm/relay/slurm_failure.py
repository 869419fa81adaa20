"""Why Slurm does not do what it is asked, in one line with what to do about it. Pure.

Its own words are kept: an administrator knows them.
"""

from __future__ import annotations

import re

from trainway.agent.slurm.commands import CANNOT_START
from trainway.agent.transfer.ssh_failure import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainway.agent.slurm.commands import Result


LONGEST = 300
NOISE = re.compile(r"Batch job submission failed: |allocation failure: |^\w+: (error|fatal): ")
ADVICE = re.compile(r"Try .* for more information")
SILENT = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Zero Bytes were transmitted"
    r"|Connection refused|Transport endpoint|Slurm backup controller in standby"
    r"|Slurm temporarily unable|Communication connection failure|munge",
    re.IGNORECASE,
)
BUSY = re.compile(r"transition|completing|in progress|pending execution", re.IGNORECASE)
"""What Slurm says when it may do it later; `pending execution`: what is to be put back into the
queue is there already, and may not be held yet."""
GONE = re.compile(r"Invalid job id specified|already completing or completed", re.IGNORECASE)


class Silence(Failure):
    """Slurm cannot be reached: what was asked may be done, and may be asked again."""


UNKNOWN = Silence(
    "Slurm does not answer, so it is not known whether it has the job",
    "ask it by hand: scontrol ping",
)


def explain(result: Result) -> Failure:
    """What a program's end means."""
    program = result.argv[0]
    if result.status == CANNOT_START:
        return Failure(
            f"there is no {program} on the login node",
            "make sure that Slurm is on PATH without a login shell, or set `env: {PATH: ...}`",
        )
    if result.status is None:
        return Silence(
            f"{program} does not end", "check whether the controller answers: scontrol ping"
        )
    words = said(result)
    if is_silent(result):
        return Silence(f"Slurm does not answer: {words}", "ask it by hand: scontrol ping")
    for pattern, hint in _HINTS:
        found = re.search(pattern, result.stderr, re.IGNORECASE)
        if found:
            return Failure(words, hint.format(**found.groupdict()))
    return Failure(words or f"{program} ended with status {result.status}")


def said(result: Result) -> str:
    """The words of a program that say what is wrong."""
    lines = [line.strip() for line in result.stderr.splitlines() if not ADVICE.match(line)]
    lines = [NOISE.sub("", NOISE.sub("", line)) for line in lines]
    unique = list(dict.fromkeys(line for line in lines if line))
    return ": ".join(unique[-2:])[:LONGEST]


def is_silent(result: Result) -> bool:
    """Whether it failed because Slurm itself could not be reached: what was asked may be done."""
    return result.status is None or bool(SILENT.search(result.stderr))


def is_gone(result: Result) -> bool:
    """Whether it failed because the job is not there any more."""
    return bool(GONE.search(result.stderr))


def is_busy(result: Result) -> bool:
    """Whether it failed because Slurm still does something else with the job."""
    return bool(BUSY.search(result.stderr))


_HINTS = (
    (
        r"invalid partition specified:? *(?P<name>\S*)|invalid partition name",
        "sinfo -s lists the partitions; name one with --on slurm/CLUSTER/PARTITION",
    ),
    (
        r"invalid account|account/partition combination",
        "set `account` of the cluster; sacctmgr show assoc user=$USER lists yours",
    ),
    (r"invalid qos", "give one that you may use: --slurm qos=NAME"),
    (
        r"user.s group not permitted|access/permission denied",
        "ask the administrator of the cluster",
    ),
    (
        r"node configuration is not available|more processors|memory specif|node count specif",
        "no nodes have that much; sinfo -o '%P %D %c %m %G' shows what they have",
    ),
    (
        r"invalid generic resource|gres",
        "sinfo -o '%P %G' shows which GPUs there are, and what they are called",
    ),
    (r"time limit", "ask for less with --slurm time=MINUTES; sinfo -o '%P %l' shows the limits"),
    (r"invalid feature|constraint", "sinfo -o '%P %f' shows which constraints there are"),
    (r"reservation", "scontrol show reservation lists them"),
    (
        r"violates accounting/qos policy|AssocMax|QOSMax|MaxSubmit",
        "a limit of your account is reached; sacctmgr show assoc user=$USER",
    ),
    (
        r"unrecognized option|invalid option|invalid --?\w+ specification",
        "it was passed through as it is: see man sbatch",
    ),
    (
        r"configuration source|slurm\.conf",
        "Slurm is there but not set up: set `env: {{SLURM_CONF: ...}}` of the cluster",
    ),
    (
        r"invalid job array specification",
        "the cluster takes fewer jobs at once (MaxArraySize): give a smaller --num-jobs",
    ),
    (r"license", "scontrol show licenses lists them"),
)
