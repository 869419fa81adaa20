"""The schema of a JobSet (`jobset.x-k8s.io/v1alpha2`), as of JobSet 0.12.

`JOBSET_SPEC` describes both the JobSets that we create or are given and the template inside a
training runtime. The rules that JobSet's webhooks add are in `admission`.
"""

from typing import Any

from trainway.schema.kubernetes import kube
from trainway.schema.structural import Rule, Schema

RESTART_JOB_ACTIONS = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
"""What a failure policy may do to the failed job alone."""

MAX_JOBS_RESTARTED_ALONE = 1024
"""The status counts the restarts of at most so many jobs of a replicated job."""


def _unchanged(value: Any, old: Any) -> bool:
    return bool(value == old)


def _has_one_order(spec: dict[str, Any], _old: Any) -> bool:
    startup = spec.get("startupPolicy") or {}
    if startup.get("startupPolicyOrder") != "InOrder":
        return True
    # CEL fails, and with it the rule, where there are no replicated jobs to look at.
    jobs = spec.get("replicatedJobs")
    return jobs is not None and all(job.get("dependsOn") is None for job in jobs)


def _has_no_namespace(policy: dict[str, Any], _old: Any) -> bool:
    # CEL fails, and with it the rule, where templates or their metadata are absent.
    templates = policy.get("templates")
    return templates is not None and all(
        template.get("metadata") is not None and not template["metadata"].get("namespace")
        for template in templates
    )


_IMMUTABLE = Rule("self == oldSelf", "Value is immutable", _unchanged)

_STRING = kube("string")
_INT32 = kube("int32")
_BOOLEAN = kube("boolean")
_INT = Schema(type="integer")
_NAMES = Schema(type="array", list_type="atomic", items=_STRING)
_STRINGS = Schema(type="array", items=_STRING)

_DEPENDS_ON = Schema(
    type="array",
    list_type="map",
    list_map_keys=("name",),
    merge="merge",
    merge_key="name",
    max_items=5,
    rules=(_IMMUTABLE,),
    items=Schema(
        type="object",
        required=("name", "status"),
        properties={
            "name": _STRING,
            "status": Schema(type="string", enum=("Ready", "Complete")),
        },
    ),
)

_REPLICATED_JOBS = Schema(
    type="array",
    list_type="map",
    list_map_keys=("name",),
    merge="merge",
    merge_key="name",
    items=Schema(
        type="object",
        required=("name", "template"),
        properties={
            "dependsOn": _DEPENDS_ON,
            "groupName": Schema(type="string", default="default"),
            "name": _STRING,
            "replicas": Schema(type="integer", format="int32", default=1),
            "template": kube("JobTemplateSpec"),
        },
    ),
)

_FAILURE_POLICY = Schema(
    type="object",
    rules=(_IMMUTABLE,),
    properties={
        "maxRestarts": _INT32,
        "restartStrategy": Schema(
            type="string",
            default="Recreate",
            enum=("Recreate", "BlockingRecreate", "InPlaceRestart"),
        ),
        "rules": Schema(
            type="array",
            items=Schema(
                type="object",
                required=("action", "name"),
                properties={
                    "action": Schema(
                        type="string",
                        enum=(
                            "FailJobSet",
                            "RestartJobSet",
                            "RestartJobSetAndIgnoreMaxRestarts",
                            *RESTART_JOB_ACTIONS,
                        ),
                    ),
                    "name": _STRING,
                    "onJobFailureMessagePatterns": _STRINGS,
                    "onJobFailureReasons": _STRINGS,
                    "targetReplicatedJobs": _NAMES,
                },
            ),
        ),
    },
)

_VOLUME_CLAIM_POLICIES = Schema(
    type="array",
    list_type="atomic",
    max_items=50,
    rules=(_IMMUTABLE,),
    items=Schema(
        type="object",
        rules=(
            Rule(
                "self.templates.all(t, !has(t.metadata.namespace)"
                " || size(t.metadata.namespace) == 0)",
                "namespace cannot be set for VolumeClaimPolicies templates",
                _has_no_namespace,
            ),
        ),
        properties={
            "retentionPolicy": Schema(
                type="object",
                properties={
                    "whenDeleted": Schema(
                        type="string", default="Delete", enum=("Delete", "Retain")
                    ),
                },
            ),
            "templates": Schema(
                type="array",
                list_type="atomic",
                max_items=50,
                items=kube("PersistentVolumeClaim"),
            ),
        },
    ),
)

JOBSET_SPEC = Schema(
    type="object",
    rules=(
        Rule(
            "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder'"
            " && self.replicatedJobs.exists(x, has(x.dependsOn)))",
            "StartupPolicy and DependsOn APIs are mutually exclusive",
            _has_one_order,
        ),
    ),
    properties={
        "coordinator": Schema(
            type="object",
            required=("replicatedJob",),
            properties={"jobIndex": _INT, "podIndex": _INT, "replicatedJob": _STRING},
        ),
        "failurePolicy": _FAILURE_POLICY,
        "managedBy": _STRING,
        "network": Schema(
            type="object",
            rules=(_IMMUTABLE,),
            properties={
                "enableDNSHostnames": _BOOLEAN,
                "publishNotReadyAddresses": _BOOLEAN,
                "subdomain": _STRING,
            },
        ),
        "replicatedJobs": _REPLICATED_JOBS,
        "startupPolicy": Schema(
            type="object",
            rules=(_IMMUTABLE,),
            required=("startupPolicyOrder",),
            properties={
                "startupPolicyOrder": Schema(type="string", enum=("AnyOrder", "InOrder")),
            },
        ),
        "successPolicy": Schema(
            type="object",
            rules=(_IMMUTABLE,),
            required=("operator",),
            properties={
                "operator": Schema(type="string", enum=("All", "Any")),
                "targetReplicatedJobs": _NAMES,
            },
        ),
        "suspend": _BOOLEAN,
        "ttlSecondsAfterFinished": Schema(type="integer", format="int32", minimum=0),
        "volumeClaimPolicies": _VOLUME_CLAIM_POLICIES,
    },
)

_COUNT = Schema(type="integer", format="int32", minimum=0)
_RESTARTS = Schema(
    type="array", list_type="atomic", max_items=MAX_JOBS_RESTARTED_ALONE, items=_INT32
)

_STATUS = Schema(
    type="object",
    properties={
        "conditions": Schema(
            type="array",
            list_type="map",
            list_map_keys=("type",),
            merge="merge",
            merge_key="type",
            items=kube("Condition"),
        ),
        "currentInPlaceRestartAttempt": _COUNT,
        "previousInPlaceRestartAttempt": _COUNT,
        "replicatedJobsStatus": Schema(
            type="array",
            list_type="map",
            list_map_keys=("name",),
            merge="merge",
            merge_key="name",
            items=Schema(
                type="object",
                required=("active", "failed", "name", "ready", "succeeded", "suspended"),
                properties={
                    "active": _INT32,
                    "failed": _INT32,
                    "jobRestarts": _RESTARTS,
                    "jobRestartsCountTowardsMax": _RESTARTS,
                    "name": _STRING,
                    "ready": _INT32,
                    "succeeded": _INT32,
                    "suspended": _INT32,
                },
            ),
        ),
        "restarts": _INT32,
        "restartsCountTowardsMax": _INT32,
        "terminalState": _STRING,
    },
)

JOBSET = Schema(
    type="object",
    properties={
        "apiVersion": _STRING,
        "kind": _STRING,
        "metadata": kube("ObjectMeta"),
        "spec": JOBSET_SPEC,
        "status": _STATUS,
    },
)
