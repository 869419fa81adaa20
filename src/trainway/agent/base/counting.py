"""Numbers of things in messages of the agents, which import nothing of ours.

Everything else uses `trainway.counting`.
"""


def counted(number: object, noun: str) -> str:
    """A number of things: `1 node`, `2 nodes`, `0.5 CPUs`."""
    text = f"{number:g}" if isinstance(number, float) else str(number)
    return f"{text} {noun}{'' if text == '1' else 's'}"
