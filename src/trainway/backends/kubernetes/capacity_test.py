from trainway.backends.kubernetes.capacity import capacity_of, limits_of, pool_name
from trainway.backends.pools import Limit, Pool
from trainway.jobset.quantity import Quantity
from trainway.json_types import Json

Q = Quantity.parse


def node(name: str, labels: dict[str, str], **resources: str) -> Json:
    allocatable = {
        key.replace("__", "/").replace("_", "."): value for key, value in resources.items()
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(where: str, phase: str = "Running", **requests: str) -> Json:
    named = {key.replace("__", "/").replace("_", "."): value for key, value in requests.items()}
    return {
        "spec": {"nodeName": where, "containers": [{"resources": {"requests": named}}]},
        "status": {"phase": phase},
    }


H100 = {"nvidia.com/gpu.product": "H100", "node.kubernetes.io/instance-type": "p5"}


def test_nodes_are_grouped_and_what_pods_hold_is_taken_off() -> None:
    nodes = [
        node("a", H100, cpu="8", memory="64Gi", nvidia_com__gpu="4"),
        node("b", H100, cpu="8", memory="64Gi", nvidia_com__gpu="4"),
        node("c", {"node.kubernetes.io/instance-type": "m5"}, cpu="4", memory="8Gi"),
        node("d", {}, cpu="2", memory="1Gi"),
    ]
    pods = [
        pod("a", cpu="500m", memory="4Gi", nvidia_com__gpu="3"),
        pod("c", phase="Succeeded", cpu="4"),
        pod("", phase="Pending", cpu="4"),
        pod("d", cpu="3"),
    ]
    found = capacity_of(nodes, pods, [])
    assert found.pools == (
        Pool(
            "H100", 2, Q("16"), Q("15500m"), Q("128Gi"), Q("124Gi"),
            {"nvidia.com/gpu": 8}, {"nvidia.com/gpu": 5},
        ),
        Pool("m5", 1, Q("4"), Q("4"), Q("8Gi"), Q("8Gi")),
        Pool("nodes", 1, Q("2"), Q("0"), Q("1Gi"), Q("1Gi")),
    )  # fmt: skip
    assert (found.cpus, found.memory, len(found.gpus)) == (Q("22"), Q("137Gi"), 8)


def test_nothing_is_free_on_nodes_that_take_no_pods() -> None:
    cordoned = node("a", {}, cpu="8")
    cordoned["spec"]["unschedulable"] = True
    lost = node("b", {}, cpu="8")
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    (pool,) = capacity_of([cordoned, lost], [], []).pools
    assert (pool.nodes, pool.cpus, pool.free_cpus) == (2, Q("16"), Q("0"))


def test_a_product_counts_only_where_there_are_gpus() -> None:
    assert pool_name(node("a", H100, cpu="8")) == "p5"


def test_quotas() -> None:
    quota = {
        "metadata": {"name": "team"},
        "spec": {"hard": {"requests.cpu": "9"}},
        "status": {"hard": {"requests.cpu": "8", "pods": "10"}, "used": {"requests.cpu": "6"}},
    }
    assert limits_of([quota]) == (
        Limit("team", "pods", Q("10"), Q("0")),
        Limit("team", "requests.cpu", Q("8"), Q("6")),
    )
