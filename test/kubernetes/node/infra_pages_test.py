"""What the dashboard's pages Infra and Queues get of a real cluster with a real Kueue."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.processes import wait_until
from installation import Installation
from queueing import CPU, PRIORITY_LABEL, QUEUE, QUEUE_LABEL, Queues, mpi_gang
from shell_jobsets import FOREVER, ShellJobSet

from trainway.jobset.quantity import ZERO, Quantity
from trainway.jobset.requests import pod_requests
from trainway.json_types import Json

PATIENCE_S: Final = 120.0
FLAVOR: Final = "only"
NO_ROOM: Final = "insufficient unused quota for cpu"


def gang(name: str, pods: int, **labels: str) -> ShellJobSet:
    """A JobSet for the queue that runs until it is deleted."""
    labels, requests = {QUEUE_LABEL: QUEUE, **labels}, {"cpu": f"{CPU}m"}
    return ShellJobSet(name, FOREVER, pods=pods, requests=requests, labels=labels)


def open_queues(queues: Queues) -> None:
    """A queue with room for two pods, and one that lends it a third."""
    queues.add_flavor(FLAVOR)
    cohort = {"cohortName": queues.namespace}
    queues.open({FLAVOR: 2}, **cohort)
    lender = queues.cluster_queue({FLAVOR: 1}, **cohort)
    queues.cluster.apply({**lender, "metadata": queues.metadata(f"{queues.namespace}-lender")})


def wait(condition: Callable[[], bool], told: Callable[[], object]) -> None:
    """Wait for what a page is to show; `told` gives what it shows instead."""
    assert wait_until(condition, PATIENCE_S), told()


class Page:
    """The page Queues of one namespace, as often as it is looked at."""

    def __init__(self, home: Installation, queues: Queues) -> None:
        self.home = home
        self.queues = queues
        self.place = f"k8s/{CONTEXT}/{queues.namespace}"

    def queue(self) -> Json:
        """The one LocalQueue."""
        answer = self.home.post("/backends/queues", {"backend": self.place})
        assert (answer["name"], answer["tells"], answer["problem"]) == (self.place, True, "")
        (found,) = answer["queues"]
        assert (found["name"], found["namespace"]) == (QUEUE, self.queues.namespace)
        assert found["clusterQueue"] == self.queues.namespace
        return dict(found)

    def owners(self) -> list[str]:
        """Of those who wait in it, in their order."""
        return [waiter["owner"] for waiter in self.queue()["waiting"]]

    def own(self) -> Json:
        """What the server knows of its own jobs there without asking the cluster."""
        (found,) = (
            each for each in self.home.get("/queues")["items"] if each["name"] == self.place
        )
        return dict(found)

    def own_jobs(self) -> dict[str, Json]:
        """The status of those that wait."""
        return {job["metadata"]["name"]: job["status"] for job in self.own()["jobs"]}

    def wait(self, condition: Callable[["Page"], bool]) -> None:
        """Wait until the page shows this."""
        wait(lambda: condition(self), lambda: (self.queue(), self.own()))

    def wait_running(self, id_: str) -> None:
        """Wait until a job of the server runs."""
        wait(lambda: self.home.phase(id_) == "Running", lambda: self.home.look(id_)["status"])


def quota(queues: Queues, used: int, borrowed: int) -> list[Json]:
    """What the page is to show of a quota of two pods."""
    amounts = {"nominal": 2, "used": used, "borrowed": borrowed}
    told = {name: f"{pods * CPU}m" if pods else "0" for name, pods in amounts.items()}
    return [{"flavor": queues.flavor_name(FLAVOR), "resource": "cpu", **told}]


def test_the_queues_of_a_cluster_with_quota_and_who_waits(
    home: Installation, queues: Queues, tmp_path: Path
) -> None:
    open_queues(queues)
    page = Page(home, queues)
    empty = page.queue()
    assert (empty["pending"], empty["admitted"], empty["waiting"]) == (0, 0, [])
    wide = gang("wide", 3).submit(home, queues.namespace, tmp_path)
    page.wait_running(wide)
    page.wait(lambda page: page.queue()["quotas"] == quota(queues, 3, 1))
    page.wait(lambda page: page.queue()["admitted"] == 1)

    # What is created in the same second has no order.
    for name, value in (("high", 20), ("middle", 10)):
        queues.add_priority(name, value)
    high = {PRIORITY_LABEL: f"{queues.namespace}-high"}
    ours = gang("ours", 2, **high).submit(home, queues.namespace, tmp_path)
    theirs = queues.submit(mpi_gang("theirs", 2), priority="middle")
    large = gang("large", 9).submit(home, queues.namespace, tmp_path)
    line = ["JobSet ours", "MPIJob theirs", "JobSet large"]
    page.wait(lambda page: page.owners() == line)
    page.wait(lambda page: all("quota" in each["reason"] for each in page.queue()["waiting"]))
    waiting = page.queue()["waiting"]
    assert [each["position"] for each in waiting] == [1, 2, 3]
    assert [each["priority"] for each in waiting] == [20, 10, 0]
    assert [each["job"] for each in waiting] == [ours, "", large]
    assert [NO_ROOM in each["reason"] for each in waiting] == [True, True, False]
    assert waiting[2]["reason"].startswith("it can never be admitted: ")
    assert all(each["since"] for each in waiting)
    page.wait(lambda page: (page.queue()["pending"], page.queue()["total"]) == (3, 3))

    page.wait(lambda page: page.own_jobs().keys() == {"ours", "large"})
    page.wait(lambda page: NO_ROOM in page.own_jobs()["ours"]["message"])
    page.wait(lambda page: page.own_jobs()["large"]["phase"] == "Inadmissible")
    own = page.own()
    assert (own["running"], own["waiting"], own["cpus"]) == (1, 2, 3 * CPU / 1000)

    home.run("jobs", "delete", wide)
    page.wait_running(ours)
    page.wait(lambda page: page.owners() == line[1:])
    queues.delete(theirs)
    home.run("jobs", "delete", ours, large)
    page.wait(lambda page: (page.queue()["pending"], page.queue()["admitted"]) == (0, 0))
    page.wait(lambda page: page.queue()["quotas"] == quota(queues, 0, 0) and not page.owners())


def test_who_was_taken_out_of_a_queue_takes_nobodys_place(
    home: Installation, queues: Queues, tmp_path: Path
) -> None:
    queues.add_flavor(FLAVOR)
    queues.open({FLAVOR: 1})
    page = Page(home, queues)
    holder = gang("holder", 1).submit(home, queues.namespace, tmp_path)
    page.wait_running(holder)
    queues.add_priority("high", 20)
    high = {PRIORITY_LABEL: f"{queues.namespace}-high"}
    ours = gang("ours", 1, **high).submit(home, queues.namespace, tmp_path)
    later = gang("later", 1).submit(home, queues.namespace, tmp_path)
    page.wait(lambda page: page.owners() == ["JobSet ours", "JobSet later"])
    home.run("jobs", "suspend", ours)
    page.wait(lambda page: page.owners() == ["JobSet later", "JobSet ours"])
    first, last = page.queue()["waiting"]
    assert (first["position"], last["reason"]) == (1, "it was deactivated")
    home.run("jobs", "resume", ours)
    page.wait(lambda page: page.owners() == ["JobSet ours", "JobSet later"])
    home.run("jobs", "delete", holder, ours, later)


def test_a_queue_that_admits_nothing_says_why(home: Installation, queues: Queues) -> None:
    queues.cluster.apply(queues.local_queue())
    page = Page(home, queues)
    missing = f"there is no ClusterQueue {queues.namespace}"
    wait(lambda: page.queue()["problem"] == missing, page.queue)
    assert page.queue()["quotas"] == []
    open_queues(queues)
    wait(lambda: not page.queue()["problem"], page.queue)
    stop = '{"spec": {"stopPolicy": "Hold"}}'
    queues.cluster.kubectl("patch", "clusterqueue", queues.namespace, "--type=merge", "-p", stop)
    wait(lambda: "stopped" in page.queue()["problem"], page.queue)


def test_the_nodes_of_a_cluster_with_what_is_in_use(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    place = f"k8s/{CONTEXT}"

    def node() -> Json:
        answer = home.post("/backends/nodes", {"backend": place})
        assert (answer["tells"], answer["problem"], answer["total"]) == (True, "", 1)
        return dict(answer["nodes"][0])

    def in_use() -> Quantity:
        """What all pods of the cluster request that are on their node and have not ended."""
        pods = node_cluster.get("pods", "-A")["items"]
        on_node = [pod for pod in pods if pod["spec"].get("nodeName")]
        held = [p for p in on_node if p["status"]["phase"] not in ("Succeeded", "Failed")]
        return sum((pod_requests(pod["spec"]).get("cpu", ZERO) for pod in held), ZERO)

    (real,) = node_cluster.get("nodes")["items"]
    has = Quantity.parse(real["status"]["allocatable"]["cpu"])
    job = ShellJobSet("busy", FOREVER, pods=2, requests={"cpu": "100m", "memory": "16Mi"})
    id_ = job.submit(home, namespace, tmp_path)
    wait(lambda: home.phase(id_) == "Running", lambda: home.look(id_)["status"])

    found = node()
    assert (found["name"], found["state"]) == (real["metadata"]["name"], "Ready")
    assert (found["problem"], found["gpus"], found["freeGpus"]) == ("", 0, 0)
    assert found["cpus"] == (has * 1000).ceil() / 1000
    assert found["memory"] == Quantity.parse(real["status"]["allocatable"]["memory"]).ceil()
    assert found["freeMemory"] <= found["memory"] - 2 * 16 * 2**20
    # Pods of other tests may be on their way out.
    wait(lambda: node()["freeCpus"] == ((has - in_use()) * 1000).ceil() / 1000, node)
    (there,) = (each for each in node()["jobs"] if each["id"] == id_)
    assert (there["name"], there["pods"]) == ("busy", 2)

    node_cluster.kubectl("cordon", found["name"])
    try:
        wait(lambda: node()["problem"].startswith("it is cordoned"), node)
        assert node()["state"] == "Ready"
    finally:
        node_cluster.kubectl("uncordon", found["name"])
    wait(lambda: not node()["problem"], node)
    home.run("jobs", "delete", id_)
    wait(lambda: node()["jobs"] == [], node)
