"""Which rights a person needs, and how a missing one is told."""

from trainway.kube.user_rights import (
    LOGS,
    Right,
    Task,
    grant_hint,
    missing_words,
    needed,
    role_rules,
)

JOBSET = "jobset.x-k8s.io"


def granted(task: Task) -> set[Right]:
    return {
        Right(verb, group, resource)
        for rule in role_rules(task)
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_a_role_grants_what_its_task_needs() -> None:
    groups = (JOBSET, "trainer.kubeflow.org", "kubeflow.org", "kueue.x-k8s.io")
    for task in Task:
        for known in ((), (JOBSET,), groups):
            assert set(needed(task, known)) <= granted(task)


def test_what_is_needed_depends_on_what_the_cluster_serves() -> None:
    watch = Right("watch", JOBSET, "jobsets")
    jobs = Right("create", "batch", "jobs")
    assert watch in needed(Task.VIEW, (JOBSET,))
    assert watch not in needed(Task.VIEW, ())
    assert jobs in needed(Task.RUN, ())
    assert jobs not in needed(Task.RUN, (JOBSET,))
    assert LOGS in needed(Task.VIEW, ())
    assert needed(Task.EXEC, ())[-2:] == [
        Right("create", "", "pods/exec"),
        Right("create", "", "pods/portforward"),
    ]


def test_nobody_needs_to_know_what_pods_use() -> None:
    right = Right("list", "metrics.k8s.io", "pods")
    assert right in granted(Task.VIEW) & granted(Task.RUN)
    assert right not in needed(Task.VIEW, ("metrics.k8s.io",))


def test_a_missing_right_is_told_with_verb_resource_and_namespace() -> None:
    missing = [Right("list", "", "pods"), Right("watch", JOBSET, "jobsets"), LOGS]
    assert missing_words(missing, "team") == (
        "you may not list pods, watch jobsets.jobset.x-k8s.io and get pods/log in namespace team"
    )
    watched = [Right("list", "", "pods"), Right("watch", "", "pods"), LOGS]
    assert missing_words(watched, "team") == (
        "you may not list/watch pods and get pods/log in namespace team"
    )
    assert missing_words([LOGS], "team") == "you may not get pods/log in namespace team"
    assert "--clusterrole=trainway-run" in grant_hint(Task.RUN, "team")


def test_a_review_asks_for_one_right() -> None:
    spec = LOGS.review("team")["spec"]["resourceAttributes"]
    assert spec == {
        "namespace": "team", "verb": "get", "resource": "pods", "subresource": "log"
    }  # fmt: skip
    spec = Right("list", JOBSET, "jobsets").review("team")["spec"]["resourceAttributes"]
    assert spec == {"namespace": "team", "verb": "list", "resource": "jobsets", "group": JOBSET}
