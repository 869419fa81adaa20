"""Whether an elastic job gets more nodes while it runs, and why not. Pure.

A further node is an allocation of its own (`agent/slurm/driver/annexes.py`), which asks for the
same as each node of the job, and sees the same files.
"""

from collections.abc import Mapping
from typing import Any, Final

from trainway.backends.elastic_demand import elastic_nodes
from trainway.backends.slurm import options
from trainway.backends.slurm.layout import Layout
from trainway.backends.slurm.options import Options

_NAMES_NODES: Final = frozenset({*options.NODES, "nodelist"})


def why_fixed(layout: Layout, said: Options, *, shared: bool) -> str:
    """Why a job gets no further node, as the rest of a sentence; empty: it may get some."""
    named = sorted(said.keys() & _NAMES_NODES)
    rules = (
        (not shared, "the nodes of the cluster share no files (shared: false)"),
        (layout.is_heterogeneous, "its roles ask for different nodes"),
        (bool(named), f"the option {', '.join(named)} of Slurm says which nodes it has"),
        (not layout.one_per_node, "its pods may share nodes"),
    )
    return next((why for holds, why in rules if holds), "")


def warnings(
    jobset: Mapping[str, Any], layout: Layout, said: Options, *, shared: bool
) -> list[str]:
    """What the owner of an elastic job is told that does not grow."""
    elastic = elastic_nodes(dict(jobset["spec"]))
    why = why_fixed(layout, said, shared=shared) if elastic else ""
    if elastic is None or not why:
        return []
    start = f"role {elastic.role}: it has the nodes that Slurm gives it at its start"
    lost = "one that is lost is not replaced until the whole job is requeued"
    return [f"{start}, and gets no more while it runs, since {why}; {lost}"]
