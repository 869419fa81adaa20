"""Where a node has the directory of a job: on a shared file system, or in the agent that it got."""

from __future__ import annotations

from trainway.agent.base.directory import Directory
from trainway.agent.base.own_program import agent_program


def opened(path: str) -> Directory:
    """The directory of a job; where this agent is its parcel, it is unpacked first.

    OSError: there is none. Several processes may do so at once.
    """
    agent = agent_program()[-1]
    if not agent.startswith(f"{path}."):
        return Directory(path)
    from trainway.agent.transfer.parcel import unpacked  # noqa: PLC0415 - few clusters need it

    return unpacked(agent, path)
