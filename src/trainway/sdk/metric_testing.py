"""The history of metrics as the server of tests answers it."""

from trainway.json_types import Json


def history(series: Json) -> Json:
    """What the server says of points by series."""
    return {"series": series, "summary": {name: _summary(series[name]) for name in series}}


def _summary(points: list[Json]) -> Json:
    values = [point["value"] for point in points]
    return {
        "last": values[-1],
        "minimum": min(values),
        "maximum": max(values),
        "step": points[-1]["step"],
    }
