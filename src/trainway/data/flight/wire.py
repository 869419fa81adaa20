"""What head and workers say to each other, as JSON in an action of Flight."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from trainway.data.flight.head import Orders, Report
from trainway.data.flight.plan import Plan, TableFile
from trainway.errors import UsageError

JOIN: Final = "trainway.join"
DESCRIBE: Final = "trainway.describe"
MOST_BYTES: Final = 64 << 20


def dump(value: Report | Orders | Mapping[str, Any]) -> bytes:
    """As it travels."""
    plain = value if isinstance(value, Mapping) else asdict(value)
    return json.dumps(plain).encode()


def load_report(body: bytes) -> Report:
    """A report as it came; a stranger's is refused."""
    try:
        if len(body) > MOST_BYTES:
            raise ValueError
        value = json.loads(body)
        counts = {int(file): int(rows) for file, rows in value["counts"].items()}
        name, address, version = (str(value[key]) for key in ("name", "address", "version"))
        if any(number < 0 for pair in counts.items() for number in pair):
            raise ValueError
        placed, final = (value[key] is True for key in ("is_placed", "is_final"))
        return Report(name, address, version, counts, placed, str(value["error"]), final)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError):
        raise UsageError("this is no report of a worker") from None


def load_orders(body: bytes) -> Orders:
    """What the head said."""
    value = json.loads(body)
    planned = value.pop("plan")
    if planned is not None:
        files = tuple(TableFile(**each) for each in planned["files"])
        planned = Plan(planned["table"], planned["schema"], files)
    return Orders(**value, plan=planned)
