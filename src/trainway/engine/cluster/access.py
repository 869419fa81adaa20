"""How a person gets to a node of a cluster."""

from trainway.engine.cluster.agents import Agents
from trainway.engine.cluster.record import ClusterRecord, State
from trainway.errors import ConflictError
from trainway.json_types import Json


async def access_to(agents: Agents, record: ClusterRecord) -> Json:
    """What leads to the first node: a folder and variables here, or words."""
    name = record.name
    if record.state != State.UP:
        raise ConflictError(f"cluster {name} is {record.state}", hint="trainway status shows more")
    node = record.placed_data[0]
    if not record.is_local:
        return await agents.login(record.pool, record.infra, str(node["host"]))
    gpus = ",".join(node.get("gpus") or ())
    variables = {"TRAINWAY_CLUSTER": name} | ({"CUDA_VISIBLE_DEVICES": gpus} if gpus else {})
    return {"directory": agents.directory(name), "variables": variables}
