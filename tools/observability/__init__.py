"""Grafana dashboards and alert rules, as Python objects that name metrics by their objects.

`tools/generate.py` writes them to `monitoring/` and into the chart. A metric or a label that is
renamed breaks this package, and so the build, not a dashboard that somebody looks at at night.
"""
