"""Files of a job's directory that nodes get where they share no file system, by their names."""

from __future__ import annotations

PLAN, AGENT = "plan.json", "agent.pyz"
WISH = "wish"
"""The file that says what the owner of the job wants of its driver."""
STOPPED = "stopped"
"""The file that says which attempt of the job did what was wanted and stopped."""
