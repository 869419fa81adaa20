import pytest

from trainway.compiler.testing import role, runtime
from trainway.kube.client import Client
from trainway.kube.connection import Connection, Endpoint
from trainway.kube.credentials import Credentials
from trainway.operator.trainjobs.build_error import BuildError
from trainway.operator.trainjobs.runtime_snapshot import runtime_text
from trainway.operator.trainjobs.runtime_source import RuntimeSource

REF = {"name": "some-runtime"}


class NoCredentials:
    """Nobody is asked in these tests."""

    async def fetch(self) -> Credentials:
        raise AssertionError


@pytest.fixture
def source() -> RuntimeSource:
    return RuntimeSource(Client(Connection(Endpoint("https://nowhere"), NoCredentials())))


def test_jobs_with_the_same_snapshot_share_one_runtime(source: RuntimeSource) -> None:
    text = runtime_text(runtime({"torch": {}}))
    first = source.stored(text, REF)
    assert source.stored(text, REF) is first
    assert first.text == text
    other = source.stored(runtime_text(runtime({"torch": {}}, role(image="new:1"))), REF)
    assert other.runtime != first.runtime


def test_a_snapshot_that_one_job_may_use_another_may_not(source: RuntimeSource) -> None:
    text = runtime_text(runtime({"torch": {}}))
    source.stored(text, REF)
    with pytest.raises(BuildError, match="the snapshot refers to the wrong runtime"):
        source.stored(text, {"name": "other-runtime"})
    with pytest.raises(BuildError, match="the snapshot refers to the wrong runtime"):
        source.stored(text, {**REF, "kind": "TrainingRuntime"})
