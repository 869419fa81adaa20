from typing import Any

import pytest

from trainway.agent.kubelet.restart_policy import CrashBackoff, restarts

RULES: dict[str, Any] = {
    "restartPolicy": "Never",
    "restartPolicyRules": [
        {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}},
    ],
}


@pytest.mark.parametrize(
    ("container", "policy", "code", "expected"),
    [
        ({}, "Never", 1, False),
        ({}, "OnFailure", 1, True),
        ({}, "OnFailure", 0, False),
        ({}, "Always", 0, True),
        ({"restartPolicy": "Always"}, "Never", 0, True),
        ({"restartPolicy": "Never"}, "OnFailure", 1, False),
        (RULES, "OnFailure", 42, True),
        (RULES, "OnFailure", 41, False),
    ],
)
def test_restarts(container: dict[str, Any], policy: str, code: int, expected: bool) -> None:
    assert restarts(container, policy, code) == expected


def test_back_off_grows_and_is_forgiven() -> None:
    backoff = CrashBackoff()
    assert [backoff.delay(0.1) for _ in range(5)] == [0, 1, 2, 4, 8]
    assert [backoff.delay(0.1) for _ in range(20)][-1] == 300
    assert backoff.delay(700.0) == 0
