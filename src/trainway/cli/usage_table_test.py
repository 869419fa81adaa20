"""Sums as people and spreadsheets have them."""

from trainway.cli.usage_table import as_csv, table
from trainway.json_types import Json

ITEM: Json = {"name": "train", "id": "34zveh7qtspv", "jobs": 1, "gpuHours": 2.0, "cpuHours": 0.0}
PRICED = {"items": [{**ITEM, "cost": 1234.5, "saved": 3.0}, {**ITEM, "id": "b", "cost": 0.0042}],
          "total": {"jobs": 2, "gpuHours": 4.0, "cpuHours": 0.0, "cost": 1234.5042,
                    "saved": 3.0}}  # fmt: skip
FREE = {"items": [{"name": "ann", "jobs": 1, "gpuHours": 2.0, "cpuHours": 0.0}],
        "total": {"jobs": 1, "gpuHours": 2.0, "cpuHours": 0.0}}  # fmt: skip


def test_money_is_shown_where_somebody_has_said_a_price() -> None:
    assert table(PRICED, "job").splitlines() == [
        "JOB    ID            JOBS  GPU-HOURS  CPU-HOURS  COST       SAVED",
        "train  34zveh7qtspv  1     2.00       0.00       $1,234.50  $3.00",
        "train  b             1     2.00       0.00       $0.0042    $0.00",
        "total                2     4.00       0.00       $1,234.50  $3.00",
    ]
    assert table(FREE, "user").splitlines()[0] == "USER   JOBS  GPU-HOURS  CPU-HOURS"
    assert table(FREE, "user", with_money=True).splitlines()[1].endswith("$0.00")


def test_attempts_count_from_one() -> None:
    items = [{**ITEM, "attempt": 0, "cost": 1.0}, {**ITEM, "attempt": 1, "cost": 2.0}]
    text = table({**PRICED, "items": items}, "attempt")
    assert [line.split()[2] for line in text.splitlines()[1:3]] == ["1", "2"]


def test_a_spreadsheet_has_exact_amounts() -> None:
    assert as_csv(PRICED, "job").splitlines() == [
        "job,id,jobs,gpuHours,cpuHours,cost,saved",
        "train,34zveh7qtspv,1,2.0,0.0,1234.5,3.0",
        "train,b,1,2.0,0.0,0.0042,",
    ]
    assert as_csv({**FREE, "items": []}, "all").splitlines()[1] == "total,1,2.0,0.0"
