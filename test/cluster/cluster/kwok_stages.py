"""How pods on fake nodes live: they run at once, end after a while, and are gone when deleted.

A pod says by annotation how long it runs and whether its gang is to fail. What fails is the first
pod of each job, so that a failure is that of one pod and the restart that of all.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from trainway.json_types import Json

RUNS_FOR: Final = "kwok.trainway.dev/runs-for"  # a duration of Go, such as 1500ms
FAILS: Final = "kwok.trainway.dev/fails"  # "once": in the gang's first attempt; or "always"
MANAGED: Final = {"type": "kwok"}  # the label of the nodes that KWOK looks after

DEFAULT_MS: Final = 1000
PLAYERS: Final = 16  # stages that are played at the same time
INDEX: Final = '.metadata.labels["batch.kubernetes.io/job-completion-index"]'
ATTEMPT: Final = '.metadata.labels["jobset.sigs.k8s.io/restart-attempt"]'
WISH: Final = f'.metadata.annotations["{FAILS}"]'
OUTCOME: Final = (
    f'if {INDEX} == "0" and ({WISH} == "always" or ({WISH} == "once" and {ATTEMPT} == "0")) '
    'then "Failed" else "Succeeded" end'
)
RUNNING: Final = """
{{ $now := Now | Quote }}
phase: Running
startTime: {{ $now }}
conditions:
{{ range list "Initialized" "ContainersReady" "Ready" }}
- {type: {{ . }}, status: "True", lastTransitionTime: {{ $now }}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  started: true
  restartCount: 0
  state: {running: {startedAt: {{ $now }}}}
{{ end }}
"""
ENDED: Final = """
{{ $now := Now | Quote }}
phase: PHASE
conditions:
{{ range list "ContainersReady" "Ready" }}
- {type: {{ . }}, status: "False", reason: REASON, lastTransitionTime: {{ $now }}}
{{ end }}
containerStatuses:
{{ range .status.containerStatuses }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: false
  started: false
  restartCount: 0
  state:
    terminated:
      exitCode: CODE
      reason: WORD
      startedAt: {{ .state.running.startedAt | Quote }}
      finishedAt: {{ $now }}
{{ end }}
"""


def configuration(log_file: str, runs_for_ms: int = DEFAULT_MS) -> str:
    """The file that KWOK reads: its options, all stages, and what every container has written.

    Pods that do not say how long they run do so for `runs_for_ms`.
    """
    options = {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "options": {
            "manageNodesWithLabelSelector": ",".join(f"{k}={v}" for k, v in MANAGED.items()),
            "nodePlayStageParallelism": 1,
            "podPlayStageParallelism": PLAYERS,
            "podsOnNodeSyncParallelism": 1,
            "enableDebuggingHandlers": True,  # what answers for a kubelet
        },
    }
    logs = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "ClusterLogs",
        "metadata": {"name": "all"},
        "spec": {"logs": [{"logsFile": log_file}]},
    }
    return "\n---\n".join(json.dumps(each) for each in (options, *stages(runs_for_ms), logs))


def stages(runs_for_ms: int) -> list[Json]:
    """What happens to nodes and pods."""
    is_there = matches(".metadata.deletionTimestamp", "DoesNotExist")
    is_pending = matches(".status.phase", "In", ["Pending"])
    is_running = matches(".status.phase", "In", ["Running"])
    return [
        # Nodes are made ready; without a stage of their own KWOK would not look at them.
        stage(
            "node-ready", "Node", [matches(".status.phase", "In", ["Pending"])], "phase: Running"
        ),
        stage("pod-run", "Pod", [is_there, is_pending], RUNNING),
        *(
            stage(
                f"pod-{phase.lower()}",
                "Pod",
                [is_there, is_running, matches(OUTCOME, "In", [phase])],
                template,
                delay_ms=runs_for_ms,
            )
            for phase, template in endings().items()
        ),
        stage("pod-delete", "Pod", [matches(".metadata.deletionTimestamp", "Exists")]),
    ]


def endings() -> Mapping[str, str]:
    """The status of an ended pod, by phase."""
    facts = {
        "Succeeded": ("PodCompleted", "0", "Completed"),
        "Failed": ("PodFailed", "1", "Error"),
    }
    return {
        phase: ENDED.replace("PHASE", phase)
        .replace("REASON", reason)
        .replace("CODE", code)
        .replace("WORD", word)
        for phase, (reason, code, word) in facts.items()
    }


def matches(query: str, operator: str, values: Sequence[str] = ()) -> Json:
    """A condition on the object, in the language of jq."""
    condition: Json = {"key": query, "operator": operator}
    if values:
        condition["values"] = list(values)
    return {"jq": condition}


def stage(
    name: str, kind: str, conditions: Sequence[Json], status: str = "", *, delay_ms: int = 0
) -> Json:
    """A step in the life of an object: a new status, or its end where there is none."""
    then: Json = {"delete": True}
    if status:
        then = {"patches": [{"subresource": "status", "root": "status", "template": status}]}
    spec: Json = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": list(conditions)},
        "next": then,
        "immediateNextStage": True,
    }
    if delay_ms:
        wish = {"jq": {"expression": f'.metadata.annotations["{RUNS_FOR}"]'}}
        spec["delay"] = {"durationMilliseconds": delay_ms, "durationFrom": wish}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": spec,
    }
