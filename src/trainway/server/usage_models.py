"""What jobs have used and cost, as the API shows it."""

from typing import Final

from pydantic import Field

from trainway.server.shown import Shown

COST: Final = "in dollars; null: nobody has said a price"
SAVED: Final = "what the same would have cost more on demand; null: nothing"


class AttemptUsage(Shown):
    """What one attempt of a job used."""

    attempt: int
    seconds: float = Field(description="in which at least one of its pods ran")
    gpu_hours: float
    cpu_hours: float
    cost: float | None = Field(None, description=COST)
    saved: float | None = Field(None, description=SAVED)


class JobUsage(Shown):
    """What a job used."""

    gpu_hours: float
    cpu_hours: float
    cost: float | None = Field(None, description=COST)
    saved: float | None = Field(None, description=SAVED)
    attempts: list[AttemptUsage]
    running_since: str | None = Field(
        None, description="of a job that runs: the time since then is not in the sums yet"
    )
    gpus: int | None = Field(None, description="what it uses meanwhile")
    cpus: float | None = None
    cost_since: str | None = Field(None, description="what it cost from then on is not in the sum")
    price_per_hour: float | None = Field(None, description="what it costs meanwhile")


class UsageSum(Shown):
    """What several jobs used."""

    name: str = Field("", description="the user, value of the label, backend, day (UTC) or job")
    id: str | None = Field(None, description="of the job, where jobs or attempts are told apart")
    attempt: int | None = Field(None, description="the number of the attempt, from 0 on")
    jobs: int
    gpu_hours: float
    cpu_hours: float
    cost: float | None = Field(None, description=COST)
    saved: float | None = Field(None, description=SAVED)


class UsageAnswer(Shown):
    """What jobs used, added up."""

    items: list[UsageSum] = Field(description="by what was asked for; else none")
    total: UsageSum
    left_out: int | None = Field(None, description="how many of many jobs are not in `items`")
