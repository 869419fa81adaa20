"""What a job reported over time, as plain lists, or as a frame where pandas is installed."""

from typing import Any

from trainway.errors import UsageError
from trainway.json_types import Json


class MetricHistory(dict[str, list[Json]]):
    """Points by series: `{"loss": [{"step": 1, "time": "...", "value": 0.5}, ...]}`."""

    def frame(self) -> Any:
        """A pandas.DataFrame with the columns series, step, epoch, time and value."""
        try:
            import pandas as pd  # type: ignore[import-not-found, import-untyped, unused-ignore] # noqa: PLC0415 - optional
        except ImportError:
            raise UsageError("pandas is not installed", hint="pip install pandas") from None
        columns = ["series", "step", "epoch", "time", "value"]
        rows = [
            (name, point["step"], point.get("epoch"), point["time"], point["value"])
            for name, points in self.items()
            for point in points
        ]
        frame = pd.DataFrame(rows, columns=columns)
        frame["time"] = pd.to_datetime(frame["time"])
        return frame
