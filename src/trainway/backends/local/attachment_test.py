import pytest

from trainway.backends.local.attachment import attachment
from trainway.errors import ConflictError

RECORDS = [{"type": "pod", "pod": "node-0-0", "containers": [{"name": "main", "pid": 7}]}]


def test_a_command_goes_beside_the_process() -> None:
    assert attachment({"id": "abc"}, RECORDS)["processes"] == {"main": 7}


def test_containers_are_left_to_their_own_tool() -> None:
    with pytest.raises(ConflictError, match="podman or docker") as caught:
        attachment({"id": "abc"}, RECORDS, is_contained=True)
    assert caught.value.hint == "use podman exec or docker exec"
