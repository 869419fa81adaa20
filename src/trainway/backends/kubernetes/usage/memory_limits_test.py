"""What is said of memory that ran out."""

from trainway.backends.kubernetes.usage.memory_limits import (
    limits_of,
    out_of_memory,
    with_highest_sample,
)

MIB = 1 << 20


def test_limits_are_those_of_the_containers() -> None:
    spec = {
        "initContainers": [{"name": "setup", "resources": {"limits": {"memory": "1Gi"}}}],
        "containers": [
            {"name": "main", "resources": {"limits": {"memory": "64Mi", "cpu": "1"}}},
            {"name": "free", "resources": {"requests": {"memory": "1Mi"}}},
            {"name": "odd", "resources": {"limits": {"memory": "much"}}},
        ],
    }
    assert limits_of(spec) == {"setup": 1024 * MIB, "main": 64 * MIB, "free": 0}


def test_the_message_says_what_is_known() -> None:
    limited, plain = out_of_memory(64 * MIB), out_of_memory(0)
    assert limited == "it used more memory than it has: its limit is 64.0 MiB"
    assert plain == "it used more memory than it has"
    record = {"phase": "Failed", "reason": "OOMKilled", "message": limited}
    said = f"{limited} and its highest sample was 30.0 MiB"
    assert with_highest_sample(record, 30 * MIB)["message"] == said
    said = f"{plain}: its highest sample was 30.0 MiB"
    assert with_highest_sample(record | {"message": plain}, 30 * MIB)["message"] == said
    for same in (record | {"phase": "Running"}, record | {"reason": "Evicted"}):
        assert with_highest_sample(same, 30 * MIB) == same
    assert with_highest_sample(record, 0) == record
