"""`trainway jobs`: what has been submitted, and what becomes of it.

Only the command that is run is imported: a list of jobs does not wait for what charts need.
"""

from typing import Final

import click

from trainway.cli.lazy import LazyGroup

_COMMANDS: Final = {
    "list": "listing:list_jobs",
    "queue": "queue:queue",
    "launch": "launch:launch",
    "show": "showing:show",
    "logs": "reading:logs",
    "events": "reading:events",
    "compare": "compare:compare",
    "metrics": "metrics:metrics",
    "stacks": "stacks:stacks",
    "note": "remarks:note",
    "link": "remarks:link",
    "exec": "exec:execute",
    "shell": "shell:shell",
    "port-forward": "port_forward:port_forward",
    "wait": "control:wait",
    "suspend": "control:suspend",
    "resume": "control:resume",
    "scale": "control:scale",
    "pool": "pool:pool",
    "set": "setting:set_job",
    "move": "move:move",
    "cancel": "cancelling:cancel",
    "delete": "control:delete",
    "prune": "pruning:prune",
    "rerun": "rerun:rerun",
}
_DASHBOARD: Final = "trainway.cli.commands.dashboard"
"""SkyPilot has it here, and so has whoever looks for it."""


@click.group(
    "jobs",
    cls=LazyGroup,
    modules={
        **{name: f"{__name__}.{place}" for name, place in _COMMANDS.items()},
        "dashboard": _DASHBOARD,
    },
)
def command() -> None:
    """List jobs, look at them, and change them.

    Name a job by its name or its id. A name means the newest job with that name.
    """
