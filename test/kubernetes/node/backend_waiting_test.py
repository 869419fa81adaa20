"""What a job in a cluster waits for, and what the cluster has, in words for its user."""

import json
from functools import partial
from pathlib import Path
from typing import Final

import yaml
from cluster.access import Access
from cluster.identities import CONTEXT
from cluster.processes import wait_until
from installation import Installation, installed
from node_operator import shell_runtime, trainjob
from queueing import CPU, PRIORITY_LABEL, QUEUE, QUEUE_LABEL, REQUESTS, Queues
from shell_jobsets import FOREVER, ShellJobSet

from trainway.operator.user_roles import user_roles

PATIENCE_S: Final = 120.0


def runs(home: Installation, job: str) -> bool:
    return bool(home.look(job)["status"]["phase"] == "Running")


def test_a_job_that_waits_says_why(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team"},
        "spec": {"hard": {"requests.memory": "1Gi"}},
    }
    node_cluster.apply(quota, namespace=namespace)
    memory = {"memory": "1Mi"}
    wanted = {
        "wide": ShellJobSet("wide", "true", requests=memory | {"cpu": "5000"}),
        "nowhere": ShellJobSet("nowhere", "true", requests=memory, image="localhost:1/no/such:1"),
        "greedy": ShellJobSet("greedy", "true", requests={"memory": "2Gi"}),
    }
    words = {
        "wide": "the only node does not fit: has too little cpu",
        "nowhere": "image localhost:1/no/such:1 cannot be pulled: the registry cannot be reached",
        "greedy": "quota team is exceeded: a pod asks for 2Gi requests.memory, used ",
    }
    ids = {name: jobset.submit(home, namespace, tmp_path) for name, jobset in wanted.items()}

    def message(name: str) -> str:
        return str(home.look(ids[name])["status"]["message"])

    def says(name: str, text: str) -> bool:
        return text in message(name)

    for name, text in words.items():
        assert wait_until(partial(says, name, text), PATIENCE_S), message(name)
    events = home.run("jobs", "events", ids["wide"])
    assert "FailedScheduling" in events
    home.run("jobs", "delete", *ids.values())
    kinds = ("jobsets,jobs,pods", "-n", namespace)
    assert wait_until(lambda: not node_cluster.get(*kinds)["items"], PATIENCE_S)


def test_what_a_node_suffers_is_shown_while_it_suffers(
    home: Installation, namespace: str, tmp_path: Path
) -> None:
    script = f"[ $JOB_COMPLETION_INDEX = 0 ] && {{ {FOREVER}; }}; exit 3"
    gang = ShellJobSet("gang", script, pods=2, restart_policy="OnFailure", backoff_limit=99)
    id_ = gang.submit(home, namespace, tmp_path)

    def suffers() -> bool:
        status = home.look(id_)["status"]
        is_told = "exited with 3" in status["message"]
        return status["phase"] == "Running" and is_told

    assert wait_until(suffers, PATIENCE_S), home.look(id_)["status"]
    shown = ""

    def is_shown() -> bool:
        nonlocal shown
        shown = home.run("jobs", "show", id_)
        (row,) = (line.split() for line in shown.splitlines() if line.startswith("node-1 "))
        return (
            row[:2] == ["node-1", "Running"]
            and row[row.index("last") + 1] == "3"
            and row[-1] in ("CrashLoopBackOff", "Error")
        )

    def is_listed() -> bool:
        return "exited with 3" in home.run("jobs", "list", "-o", "wide")

    # When the container has started again, it suffers nothing for a moment.
    assert wait_until(is_shown, PATIENCE_S), shown
    assert wait_until(is_listed, PATIENCE_S), home.run("jobs", "list", "-o", "wide")
    home.run("jobs", "delete", id_)


def kubeconfig_of(cluster: Access, namespace: str, account: str, folder: Path) -> Path:
    """Of a service account that has no rights yet."""
    cluster.kubectl("create", "serviceaccount", account, "-n", namespace)
    token = cluster.kubectl("create", "token", account, "-n", namespace).stdout.strip()
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    path = folder / f"{account}.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


def bind(cluster: Access, namespace: str, account: str, role: str) -> None:
    who = f"--serviceaccount={namespace}:{account}"
    kind = f"--clusterrole={role}"
    cluster.kubectl("create", "rolebinding", role, "-n", namespace, kind, who)


def said(home: Installation, *words: str, code: int = 0) -> str:
    """All that a command prints, errors and warnings too."""
    process = home.start(*words)
    text, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code, text
    return text


def test_rights_that_are_missing_are_told_at_once(
    node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    jobs = {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["*"]}
    blind = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": f"{namespace}-blind"},
        "rules": [jobs],
    }
    silent = json.loads(json.dumps(user_roles()[1]))
    silent["metadata"]["name"] = f"{namespace}-silent"
    silent["rules"] = [rule for rule in silent["rules"] if rule["resources"] != ["pods/log"]]
    node_cluster.apply(blind, silent, *user_roles())
    kubeconfig = kubeconfig_of(node_cluster, namespace, "ada", tmp_path)
    place = f"k8s/{CONTEXT}/{namespace}"
    job = tmp_path / "said.json"
    job.write_text(json.dumps(ShellJobSet("said", f"echo hello; {FOREVER}").manifest()))
    bind(node_cluster, namespace, "ada", f"{namespace}-blind")
    with installed(tmp_path / "home", {"KUBECONFIG": str(kubeconfig)}) as home:
        told = said(home, "run", str(job), "--on", place, code=1)
        missing = f"you may not list/watch pods in namespace {namespace}"
        assert missing in told
        assert "--clusterrole=trainway-run" in told

        bind(node_cluster, namespace, "ada", f"{namespace}-silent")
        told = said(home, "run", str(job), "--on", place, "--detach")
        assert f"you may not get pods/log in namespace {namespace}" in told
        id_ = home.json("jobs", "list")["items"][0]["metadata"]["id"]
        assert wait_until(lambda: runs(home, id_), PATIENCE_S), home.job(id_)
        assert wait_until(lambda: "LogsForbidden" in home.run("jobs", "events", id_), PATIENCE_S), (
            home.run("jobs", "events", id_)
        )
        told = said(home, "jobs", "logs", id_)
        assert "warning: its logs cannot be read: " in told
        assert 'cannot get resource "pods/log"' in told

        told = said(home, "jobs", "port-forward", id_, "8080", code=1)
        assert f"you may not create pods/portforward in namespace {namespace}" in told
        told = said(home, "jobs", "exec", id_, "--", "true", code=1)
        assert f"you may not create pods/exec in namespace {namespace}" in told

        bind(node_cluster, namespace, "ada", "trainway-run")
        bind(node_cluster, namespace, "ada", "trainway-exec")
        assert wait_until(
            lambda: "hello" in home.run("jobs", "exec", id_, "--", "echo", "hello"), PATIENCE_S
        )
        home.run("jobs", "delete", id_)
    node_cluster.kubectl("delete", "clusterrole", f"{namespace}-blind", f"{namespace}-silent")


def test_a_job_in_a_queue_says_which_and_why(
    home: Installation, queues: Queues, tmp_path: Path
) -> None:
    queues.add_flavor("only")
    queues.open({"only": 1})
    requests, labels = {"cpu": f"{CPU}m"}, {QUEUE_LABEL: QUEUE}
    first = ShellJobSet("first", FOREVER, requests=requests, labels=labels)
    second = ShellJobSet("second", "echo at last", requests=requests, labels=labels)
    holder = first.submit(home, queues.namespace, tmp_path)
    assert wait_until(lambda: runs(home, holder), PATIENCE_S), home.job(holder)
    waiter = second.submit(home, queues.namespace, tmp_path)

    def says_why() -> bool:
        status = home.look(waiter)["status"]
        words = f"waits in queue {QUEUE}: couldn't assign flavors"
        return status["phase"] == "Queued" and words in status["message"]

    assert wait_until(says_why, PATIENCE_S), home.job(waiter)["status"]
    home.run("jobs", "delete", holder)
    home.run("jobs", "wait", waiter, "--timeout", f"{PATIENCE_S:g}s")
    assert home.run("jobs", "logs", waiter, "--raw") == "at last\n"
    home.run("jobs", "delete", waiter)


def test_a_job_that_no_queue_will_take_is_inadmissible_and_one_that_is_taken_back_waits(
    home: Installation, queues: Queues, tmp_path: Path
) -> None:
    queues.add_flavor("only")
    queues.open({"only": 1}, preemption={"withinClusterQueue": "LowerPriority"})
    lost = ShellJobSet("lost", "true", labels={QUEUE_LABEL: "no-such"})
    large = {"cpu": f"{100 * CPU}m"}
    huge = ShellJobSet("huge", "true", requests=large, labels={QUEUE_LABEL: QUEUE})
    words = {"lost": "queue no-such can never admit it: ", "huge": "> maximum capacity"}
    ids = {job.name: job.submit(home, queues.namespace, tmp_path) for job in (lost, huge)}

    def is_hopeless(name: str) -> bool:
        status = home.look(ids[name])["status"]
        return status["phase"] == "Inadmissible" and words[name] in status["message"]

    for name, id_ in ids.items():
        assert wait_until(partial(is_hopeless, name), PATIENCE_S), home.job(id_)["status"]
    home.run("jobs", "delete", *ids.values())

    requests = {"cpu": f"{CPU}m"}
    brief = ShellJobSet("brief", FOREVER, requests=requests, labels={QUEUE_LABEL: QUEUE})
    id_ = brief.submit(home, queues.namespace, tmp_path)
    assert wait_until(lambda: runs(home, id_), PATIENCE_S), home.job(id_)
    stop = json.dumps({"spec": {"stopPolicy": "HoldAndDrain"}})
    queue = ("clusterqueue", queues.namespace)
    queues.cluster.kubectl("patch", *queue, "--type=merge", "-p", stop)

    def is_taken_back() -> bool:
        status = home.look(id_)["status"]
        (node,) = status["nodes"]
        waits = status["phase"] in ("Queued", "Inadmissible")
        return waits and node["phase"] == "Pending" and not status["startTime"]

    assert wait_until(is_taken_back, PATIENCE_S), home.job(id_)["status"]
    resume = json.dumps({"spec": {"stopPolicy": "None"}})
    queues.cluster.kubectl("patch", *queue, "--type=merge", "-p", resume)
    assert wait_until(lambda: runs(home, id_), PATIENCE_S), home.job(id_)["status"]
    assert home.look(id_)["status"]["startTime"]

    queues.add_priority("high", 100)
    labels = {QUEUE_LABEL: QUEUE, PRIORITY_LABEL: f"{queues.namespace}-high"}
    urgent = ShellJobSet("urgent", FOREVER, requests=requests, labels=labels)
    other = urgent.submit(home, queues.namespace, tmp_path)
    assert wait_until(lambda: runs(home, other), PATIENCE_S), home.job(other)["status"]
    assert wait_until(is_taken_back, PATIENCE_S), home.job(id_)["status"]
    assert f"waits in queue {QUEUE}: " in home.look(id_)["status"]["message"]
    home.run("jobs", "delete", other)
    assert wait_until(lambda: runs(home, id_), PATIENCE_S), home.job(id_)["status"]
    home.run("jobs", "delete", id_)


def test_a_trainjob_in_a_queue_goes_and_so_does_the_runtime_it_brought(
    home: Installation, queues: Queues, tmp_path: Path
) -> None:
    queues.add_flavor("only")
    queues.open({"only": 1})
    job = trainjob("held", "own", {"resourcesPerNode": REQUESTS})
    job["metadata"]["labels"] = {QUEUE_LABEL: QUEUE}
    file = tmp_path / "job.yaml"
    file.write_text(yaml.safe_dump_all([shell_runtime("own"), job]))
    id_ = home.submit(str(file), "--on", f"k8s/{CONTEXT}/{queues.namespace}")
    assert wait_until(lambda: runs(home, id_), PATIENCE_S), home.job(id_)["status"]
    home.run("jobs", "cancel", id_)

    def is_gone() -> bool:
        kinds = "trainjobs,trainingruntimes,pods"
        return not queues.cluster.get(kinds, "-n", queues.namespace)["items"]

    assert wait_until(is_gone, PATIENCE_S), home.job(id_)["status"]
    home.run("jobs", "delete", id_)


def test_doctor_knows_what_the_cluster_has(
    home: Installation, node_cluster: Access, namespace: str, tmp_path: Path
) -> None:
    job = ShellJobSet("holding", FOREVER, requests={"cpu": "100m"})
    id_ = job.submit(home, namespace, tmp_path)
    assert wait_until(lambda: runs(home, id_), PATIENCE_S)
    (cluster,) = [
        item
        for item in home.json("doctor", "--any")["backends"]
        if item["name"].startswith(f"k8s/{CONTEXT}")
    ]
    (pool,) = cluster["capacity"]["pools"]
    (node,) = node_cluster.get("nodes")["items"]
    assert (pool["nodes"], pool["total"]["cpu"]) == (1, node["status"]["allocatable"]["cpu"])
    assert pool["free"]["cpu"] != pool["total"]["cpu"]
    home.run("jobs", "delete", id_)
