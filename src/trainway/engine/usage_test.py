from decimal import Decimal

import pytest

from trainway.engine.costs.rate import Rate
from trainway.engine.usage import (
    MOST_JOBS,
    Grouping,
    Rates,
    UsageReport,
    UsedJob,
    requests_view,
    usage_view,
)
from trainway.jobset.labels import ACCOUNT, USER
from trainway.json_types import Json

RUNS: list[Json] = [
    {"attempt": 0, "start": "2026-11-14T23:00:00Z", "end": "2026-11-15T01:00:00Z"},
    {"attempt": 1, "start": "2026-11-15T02:00:00Z"},
]
UNTIL = "2026-11-15T02:30:00Z"


def used(labels: dict[str, str], gpus: int, backend: str = "local") -> UsedJob:
    return UsedJob(labels, backend, Rates(gpus, 0.5), RUNS, UNTIL)


def test_hours_are_what_was_requested_times_the_time_it_ran() -> None:
    rates = Rates.of({"cpus": "1500m", "gpus": 4, "memory": "1Gi"})
    assert rates == Rates(4, 1.5)
    assert usage_view(rates, RUNS, "") == {
        "gpuHours": 8.0,
        "cpuHours": 3.0,
        "attempts": [
            {"attempt": 0, "seconds": 7200.0, "gpuHours": 8.0, "cpuHours": 3.0},
            {"attempt": 1, "seconds": 0, "gpuHours": 0.0, "cpuHours": 0.0},
        ],
        "runningSince": "2026-11-15T02:00:00Z",
        "gpus": 4,
        "cpus": 1.5,
    }
    assert usage_view(rates, RUNS, UNTIL) == {
        "gpuHours": 10.0,
        "cpuHours": 3.75,
        "attempts": [
            {"attempt": 0, "seconds": 7200.0, "gpuHours": 8.0, "cpuHours": 3.0},
            {"attempt": 1, "seconds": 1800.0, "gpuHours": 2.0, "cpuHours": 0.75},
        ],
    }
    assert usage_view(Rates.of({}), [], UNTIL) == {"gpuHours": 0, "cpuHours": 0, "attempts": []}


@pytest.mark.parametrize(
    ("by", "key", "since", "groups"),
    [
        (None, "", "", {}),
        (Grouping.USER, "", "", {"ann": (2, 12.5), "": (1, 0.0)}),
        (Grouping.LABEL, "team", "", {"nlp": (1, 10.0), "": (2, 2.5)}),
        (Grouping.BACKEND, "", "", {"local": (2, 12.5), "ssh/lab": (1, 0.0)}),
        (Grouping.DAY, "", "", {"2026-11-14": (3, 5.0), "2026-11-15": (3, 7.5)}),
        (Grouping.DAY, "", "2026-11-15T00:30:00Z", {"2026-11-15": (3, 5.0)}),
        (Grouping.USER, "", "2026-11-15T02:15:00Z", {"ann": (2, 1.25), "": (1, 0.0)}),
        (Grouping.USER, "", "2026-11-16T00:00:00Z", {}),
    ],
)
def test_hours_are_added_up(
    by: Grouping | None, key: str, since: str, groups: dict[str, tuple[int, float]]
) -> None:
    report = UsageReport(by, key, since)
    report.add([used({USER: "ann", "team": "nlp"}, 4), used({USER: "ann"}, 1)])
    report.add([used({}, 0, "ssh/lab")])
    shown = report.to_dict()
    assert {item["name"]: (item["jobs"], item["gpuHours"]) for item in shown["items"]} == groups
    if groups:
        assert shown["total"]["gpuHours"] == sum(hours for _, hours in groups.values())
    if not since:
        assert shown["total"] == {"jobs": 3, "gpuHours": 12.5, "cpuHours": 3.75}


def test_what_a_job_requests_is_shown_as_numbers() -> None:
    demand = {"cpus": "1500m", "memory": "2Gi", "gpus": 3, "slots": {}}
    assert requests_view(demand) == {"cpus": 1.5, "memory": 2 << 30, "gpus": 3}
    assert requests_view({"cpus": "0", "memory": "0", "gpus": 0}) == {
        "cpus": 0,
        "memory": 0,
        "gpus": 0,
    }


def test_of_very_many_jobs_the_dearest_are_told_one_by_one() -> None:
    report = UsageReport(Grouping.JOB)
    rate = Rate("2026-11-14T00:00:00Z", Decimal(1), "local")
    dearest = Rate("2026-11-14T00:00:00Z", Decimal(9), "local")
    for number in range(MOST_JOBS + 2):
        costs = [dearest if number == MOST_JOBS else rate]
        report.add([UsedJob({}, "local", Rates(), RUNS[:1], UNTIL, costs, f"id{number}", "job")])
    shown = report.to_dict()
    assert (len(shown["items"]), shown["leftOut"]) == (MOST_JOBS, 2)
    assert (shown["items"][0]["id"], shown["items"][0]["cost"]) == (f"id{MOST_JOBS}", 18.0)
    assert shown["total"]["cost"] == 2.0 * (MOST_JOBS + 1) + 18.0


def test_costs_are_parted_by_day_and_attempt() -> None:
    rate = Rate("2026-11-14T00:00:00Z", Decimal("0.10"), "local")
    job = UsedJob({USER: "ann"}, "local", Rates(), RUNS, UNTIL, [rate], "id", "job")
    by_day, by_attempt = UsageReport(Grouping.DAY), UsageReport(Grouping.ATTEMPT)
    by_day.add([job])
    by_attempt.add([job])
    days = {item["name"]: item["cost"] for item in by_day.to_dict()["items"]}
    assert days == {"2026-11-14": 0.1, "2026-11-15": 0.15}
    attempts = {item["attempt"]: item["cost"] for item in by_attempt.to_dict()["items"]}
    assert attempts == {0: 0.2, 1: 0.05}
    late = UsageReport(Grouping.USER, since="2026-11-15T02:00:00Z")
    late.add([job])
    assert late.to_dict()["total"]["cost"] == 0.05


def test_machines_that_were_rented_for_one_job_go_by_its_name() -> None:
    rate = Rate("2026-11-14T23:00:00Z", Decimal(4), "cluster/for-a-1", is_rented=True)

    def machines(account: str, name: str) -> UsedJob:
        labels, backend = {ACCOUNT: account}, f"cluster/{name}"
        return UsedJob(labels, backend, Rates(), [], UNTIL, [rate], f"id-{name}", name)

    setup = UsedJob(
        {ACCOUNT: "a"}, "cluster/for-a-1", Rates(0, 1), RUNS[:1], UNTIL, (), "s", "setup"
    )
    job = UsedJob({ACCOUNT: "a"}, "worker-pool/for-a", Rates(0, 1), RUNS, UNTIL, (), "j", "train")
    report = UsageReport(Grouping.JOB)
    report.add([setup, job, machines("a", "for-a-1"), machines("b", "for-b-1")])
    found = {each["name"]: (each["id"], each.get("cost")) for each in report.to_dict()["items"]}
    assert found == {
        "train": ("j", 14.0),
        "setup": ("s", None),
        "cluster for-b-1": ("id-for-b-1", 14.0),
    }
    assert report.to_dict()["total"]["cost"] == 28.0
