"""The account of a submission: what its jobs and the machines rented for them cost together. Pure.

A job on rented machines costs nothing by itself, since its machines do; so both have the label of
their account. Machines that several jobs of a run share have that of the run.
"""

import hashlib
import json
import secrets
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Final

from trainway.engine.costs.budget import JobBudget
from trainway.engine.submission import Submission
from trainway.families.table import family_of
from trainway.jobset.labels import ACCOUNT

_DIGITS: Final = 10


def charged(submission: Submission) -> Submission:
    """A submission with an account where it needs one; the same one for the same request.

    Jobs without a limit on machines of your own say themselves what they cost.
    """
    is_limited = submission.max_cost is not None or submission.max_cost_each is not None
    if ACCOUNT in submission.labels:
        return submission
    if not (is_limited or any(map(_rents, _places(submission)))):
        return submission
    account = new_account(submission.key)
    return replace(submission, labels={**submission.labels, ACCOUNT: account})


def new_account(key: str = "") -> str:
    """One that nobody has yet; with a key always the same."""
    seed = key.encode() if key else secrets.token_bytes(32)
    return hashlib.sha256(seed).hexdigest()[:_DIGITS]


def part(submission: Submission, account: str, name: str) -> Submission:
    """The submission of one job of a run, with its part of the account of the run."""
    if not account:
        return submission
    return replace(submission, labels={**submission.labels, ACCOUNT: f"{account}.{name}"})


def root_of(account: str) -> str:
    """The account of a run, by that of one of its jobs; that of a single job is its own."""
    return account.partition(".")[0]


def single(submission: Submission) -> Submission:
    """One job, for which both limits mean the same."""
    limits = [each for each in (submission.max_cost, submission.max_cost_each) if each is not None]
    return replace(submission, max_cost=min(limits, default=None), max_cost_each=None)


def one_of_several(submission: Submission) -> Submission:
    """What each job of a run is submitted with: the limit of the run is that of no job."""
    return replace(submission, max_cost=submission.max_cost_each, max_cost_each=None)


def job_budget(submission: Submission) -> str | None:
    """What a job may cost, as the store has it; None: anything."""
    limit = submission.max_cost
    return None if limit is None else JobBudget(Decimal(str(limit))).text()


def run_budget(submission: Submission) -> str | None:
    """The budget of the run that a submission is, as the store has it; None: it has none."""
    if submission.max_cost is None:
        return None
    account = submission.labels.get(ACCOUNT, "")
    return JobBudget(Decimal(str(submission.max_cost)), account=account).text()


def anew(budget: str | None, account: str) -> str | None:
    """The budget of a run that is submitted again: as much, of which nothing is spent."""
    known = JobBudget.of(budget)
    return None if known is None else JobBudget(known.limit, account=account).text()


def labelled_so(labels: str, account: str) -> str:
    """The account in labels that are JSON, if it is this one or a part of it; empty: it is not."""
    found = str(json.loads(labels).get(ACCOUNT, ""))
    return found if root_of(found) == account else ""


def _places(submission: Submission) -> Iterable[str]:
    """Where its jobs may come to run."""
    others = [str(each["backend"]) for each in submission.candidates]
    tasks = [str(place) for each in submission.placement.values() for place in each["places"]]
    return (submission.backend, *others, *tasks)


def _rents(place: str) -> bool:
    return family_of(place).rents
