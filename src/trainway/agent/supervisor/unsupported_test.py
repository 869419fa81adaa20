from typing import Any

from trainway.agent.base.plan import Plan
from trainway.agent.supervisor.unsupported import not_honoured

POD: dict[str, Any] = {
    "securityContext": {"runAsUser": 5},
    "containers": [
        {
            "name": "main",
            "image": "x",
            "resources": {"limits": {"cpu": 1}},
            "livenessProbe": {"grpc": {"port": 1}},
        }
    ],
    "volumes": [{"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}],
}
NODE = {"name": "node", "template": {"spec": {"template": {"spec": POD}}}}
JOBSET: dict[str, Any] = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": [NODE]}}


def test_what_has_no_effect_is_named() -> None:
    plan = Plan({"version": 1, "id": "i", "name": "n", "jobset": JOBSET})
    assert [text.split(" ")[0] for text in not_honoured(plan)] == [
        "securityContext",
        "image",
        "resources.limits.cpu",
        "livenessProbe.grpc",
        "serviceAccountToken",
    ]


def test_what_others_see_to_is_not_named() -> None:
    data = {"version": 1, "id": "i", "name": "n", "jobset": JOBSET}
    named = not_honoured(Plan({**data, "honours": ["image", "limits"]}))
    assert not [text for text in named if text.startswith(("image", "resources.limits"))]
    assert "securityContext" in named
