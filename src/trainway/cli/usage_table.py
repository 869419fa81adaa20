"""What jobs have used and cost, added up: the tables and files of `usage` and `cost-report`."""

import csv
import io
from typing import Final

from trainway.cli.columns import Columns
from trainway.cli.cost_text import money
from trainway.cli.job_text import hours
from trainway.json_types import Json

_HOURS: Final = {"GPU-HOURS": "gpuHours", "CPU-HOURS": "cpuHours"}
_MONEY: Final = {"COST": "cost", "SAVED": "saved"}


def table(found: Json, group: str, *, with_money: bool = False) -> str:
    """A row for each group, and one for all; money where somebody has said a price."""
    sums = [*found["items"], found["total"]]
    columns = [name for name, key in _MONEY.items() if any(each.get(key) for each in sums)]
    if with_money and "COST" not in columns:
        columns = ["COST", *columns]
    attempts = any(each.get("attempt") is not None for each in sums)
    ids = any(each.get("id") for each in sums)
    rows = []
    for each, name in [
        *((item, item["name"] or "(none)") for item in found["items"]),
        (found["total"], "total"),
    ]:
        cells = [name]
        cells += [each.get("id") or ""] if ids else []
        cells += [_attempt(each)] if attempts else []
        cells += [str(each["jobs"]), *(hours(each[key]) for key in _HOURS.values())]
        rows.append([*cells, *(money(each.get(_MONEY[name]) or 0) for name in columns)])
    more = [*(["ID"] if ids else []), *(["ATTEMPT"] if attempts else [])]
    return Columns((group.upper(), *more, "JOBS", *_HOURS, *columns)).table(rows)


def as_csv(found: Json, group: str, *, with_money: bool = False) -> str:
    """The same for spreadsheets, without the sum of all unless there is nothing else."""
    items = found["items"] or [{"name": "total", **found["total"]}]
    keys = [*_HOURS.values()]
    keys += [key for key in _MONEY.values() if any(item.get(key) for item in items)]
    if with_money and "cost" not in keys:
        keys.append("cost")
    named = [key for key in ("id", "attempt") if any(item.get(key) is not None for item in items)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([group, *named, "jobs", *keys])
    for item in items:
        cells = [item.get(key, "") for key in named]
        writer.writerow([item["name"], *cells, item["jobs"], *(item.get(key, "") for key in keys)])
    return text.getvalue()


def _attempt(item: Json) -> str:
    return "" if item.get("attempt") is None else str(item["attempt"] + 1)
