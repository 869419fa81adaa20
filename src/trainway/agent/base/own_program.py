"""The words that start this very agent again."""

from __future__ import annotations

import os
import sys


def agent_command() -> list[str]:
    """By where its code is, on this machine."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = package if os.path.isdir(package) else os.path.dirname(os.path.dirname(package))
    return [sys.executable, "-I", "-S", path]


def agent_program() -> list[str]:
    """By what was started, which every node of an allocation has under the same path."""
    agent = os.environ.get("TRAINWAY_AGENT") or os.path.abspath(sys.argv[0])
    if agent.endswith("/__main__.py"):
        agent = os.path.dirname(agent)
    return [sys.executable, "-I", "-S", agent]
