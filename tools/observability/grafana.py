"""Dashboards as the JSON that Grafana 10 and newer reads. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from observability.panel import Dashboard, Line, Panel, Row, Shape, Unit, Variable
from trainway.json_types import Json

DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_SCHEMA_VERSION: Final = 39
_COLUMNS: Final = 24
_LEGEND_LABEL: Final = re.compile(r"{{(\w+)}}")
_RANGED: Final = frozenset({Shape.GRAPH})


def dashboard_text(dashboard: Dashboard) -> str:
    """The file of a dashboard."""
    return json.dumps(dashboard_json(dashboard), indent=2, ensure_ascii=False) + "\n"


def dashboard_json(dashboard: Dashboard) -> Json:
    """The model of a dashboard, as an import or a provisioned file has it."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["trainway"],
        "schemaVersion": _SCHEMA_VERSION,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "links": [_LINKS],
        "templating": {"list": [_DATASOURCES, *map(_variable, dashboard.variables)]},
        "annotations": {"list": []},
        "panels": list(_panels(dashboard.rows)),
    }


_DATASOURCES: Final[Json] = {
    "name": "datasource",
    "label": "Prometheus",
    "type": "datasource",
    "query": "prometheus",
    "hide": 0,
    "refresh": 1,
}
_LINKS: Final[Json] = {
    "type": "dashboards",
    "title": "Trainway",
    "tags": ["trainway"],
    "asDropdown": True,
    "includeVars": False,
    "keepTime": True,
}


def _variable(variable: Variable) -> Json:
    query = f"label_values({variable.query.text}, {variable.label})"
    return {
        "name": variable.name,
        "label": variable.title,
        "type": "query",
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": "values"},
        "refresh": 2,
        "sort": 1,
        "hide": 0,
        "multi": variable.is_multiple,
        "includeAll": variable.is_multiple,
        # A series without the label is chosen too: the operator knows no backend.
        **({"allValue": ".*", "current": _ALL} if variable.is_multiple else {}),
    }


_ALL: Final[Json] = {"selected": True, "text": ["All"], "value": ["$__all"]}


def _panels(rows: Sequence[Row]) -> Iterator[Json]:
    top, number = 0, 0
    for row in rows:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": False,
            "gridPos": {"x": 0, "y": top, "w": _COLUMNS, "h": 1},
            "panels": [],
        }
        top += 1
        left = 0
        for panel, width in zip(row.panels, widths(row), strict=True):
            number += 1
            place = {"x": left, "y": top, "w": width, "h": row.height}
            yield {"id": number, **_panel(panel), "gridPos": place}
            left += width
        top += row.height


def widths(row: Row) -> list[int]:
    """How wide the panels of a row are; what is left is divided among those that do not say."""
    open_ = sum(1 for panel in row.panels if not panel.width)
    left = _COLUMNS - sum(panel.width for panel in row.panels)
    if left < open_ or (left and not open_):
        raise ValueError(f"{row.title}: the panels do not fill {_COLUMNS} columns")
    found, divided = [], 0
    for panel in row.panels:
        width = panel.width
        if not width:
            divided += 1
            width = left * divided // open_ - left * (divided - 1) // open_
        found.append(width)
    return found


def _panel(panel: Panel) -> Json:
    return {
        "type": panel.shape,
        "title": panel.title,
        "description": panel.what,
        "datasource": DATASOURCE,
        "targets": [
            _target(panel, line, chr(ord("A") + place)) for place, line in enumerate(panel.lines)
        ],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        **_DRAWN[panel.shape],
    }


def _target(panel: Panel, line: Line, name: str) -> Json:
    unknown = set(_LEGEND_LABEL.findall(line.legend)) - line.query.labels
    if unknown:
        raise ValueError(f"{panel.title}: {line.query.text} has no label {', '.join(unknown)}")
    is_ranged = panel.shape in _RANGED
    return {
        "refId": name,
        "datasource": DATASOURCE,
        "expr": line.query.text,
        "legendFormat": line.legend or "__auto",
        "range": is_ranged,
        "instant": not is_ranged,
        **({"format": "table"} if panel.shape is Shape.TABLE else {}),
    }


def _defaults(panel: Panel) -> Json:
    found: Json = {"unit": panel.unit, "noValue": "nothing yet"}
    if panel.unit in (Unit.RATIO, Unit.NONE) and panel.shape is Shape.GRAPH:
        found["min"] = 0
    if panel.shape is Shape.GRAPH:
        found["custom"] = {
            "drawStyle": "line",
            "fillOpacity": 30 if panel.is_stacked else 0,
            "lineWidth": 1,
            "showPoints": "never",
            "spanNulls": False,
            "stacking": {"mode": "normal" if panel.is_stacked else "none", "group": "A"},
        }
    if panel.red_above is not None:
        steps = [{"color": "green", "value": None}, {"color": "red", "value": panel.red_above}]
        found["thresholds"] = {"mode": "absolute", "steps": steps}
    elif panel.red_below is not None:
        steps = [{"color": "red", "value": None}, {"color": "green", "value": panel.red_below}]
        found["thresholds"] = {"mode": "absolute", "steps": steps}
    return found


_REDUCED: Final = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_DRAWN: Final[dict[Shape, Json]] = {
    Shape.GRAPH: {
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }
    },
    Shape.NUMBER: {
        "options": {"reduceOptions": _REDUCED, "colorMode": "value", "graphMode": "none"}
    },
    Shape.BARS: {
        "options": {"reduceOptions": _REDUCED, "orientation": "horizontal", "displayMode": "basic"}
    },
    Shape.TABLE: {
        "options": {"showHeader": True},
        "transformations": [
            {
                "id": "organize",
                "options": {
                    "excludeByName": {
                        "Time": True,
                        "Value": True,
                        "__name__": True,
                        "instance": True,
                        "job": True,
                    }
                },
            }
        ],
    },
}
