import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from trainway.backends.agents.agent_socket import AgentError
from trainway.backends.base import BackendSettings, Feature, Update
from trainway.backends.capabilities import Probing, Remote
from trainway.backends.slurm.backend import SlurmBackend
from trainway.backends.slurm.relays import Relays
from trainway.backends.slurm.sites import ConfiguredClusters
from trainway.backends.slurm.testing import FakeRelay, jobset, role, workload
from trainway.errors import ConflictError, TrainwayError, UnavailableError
from trainway.json_types import Json

FACTS: Json = {
    "version": "22.05.8",
    "python": [3, 11],
    "partitions": [{"name": "main", "state": "up", "nodes": 4, "cpus": 32, "gpus": {"gpu": 2}}],
    "whole": {"nodes": 4, "cpus": 32, "gpus": {"gpu": 2}},
    "containers": ["apptainer"],
    "home": "/home/me/.trainway/slurm",
}


def facts(operation: str, _fields: Mapping[str, Any]) -> Json:
    return dict(FACTS) if operation == "facts" else {}


def unreachable(*_: Any) -> Json:
    raise UnavailableError("the login node does not answer", hint="try ssh hpc")


class Setup:
    def __init__(self, home: Path, target: str = "hpc", answer: Any = facts) -> None:
        self.home = home
        self.relay = FakeRelay(answer)
        self.clusters: list[Json] = []
        (home / "config.yaml").write_text("clusters: {hpc: {login: hpc, partition: main}}\n")
        self.backend = SlurmBackend(
            BackendSettings(home, target),
            ConfiguredClusters(home, home, has_slurm=lambda: False),
            Relays(self.make),
            clock=lambda: datetime(2026, 11, 15, tzinfo=UTC),
        )

    def make(self, cluster: Json) -> FakeRelay:
        self.clusters.append(cluster)
        return self.relay

    @property
    def asked(self) -> list[str]:
        return [operation for operation, _ in self.relay.asked]


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


JOB = workload(jobset(role("node", pods=2)))


def test_a_job_is_submitted_once(setup: Setup) -> None:
    request = setup.backend.plan(JOB)
    asyncio.run(setup.backend.submit(request))
    folder = setup.home / "jobs" / JOB.id
    script = (folder / "script.sbatch").read_text()
    assert script == request.script
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["slurm"]["cluster"] == "hpc"
    assert set(plan["status"]["files"]) == {"certificate", "key", "token"}
    (folder / "script.sbatch").write_text("#!/bin/bash\n# as it was sent\n")
    asyncio.run(setup.backend.submit(request))
    sent = [fields for operation, fields in setup.relay.asked if operation == "submit"]
    assert [fields["script"] for fields in sent] == [script, "#!/bin/bash\n# as it was sent\n"]
    assert json.loads((folder / "plan.json").read_text()) == plan


def test_slurm_judges_a_script_before_it_is_sent(setup: Setup) -> None:
    request = setup.backend.plan(JOB)
    asyncio.run(setup.backend.rehearse(request))
    assert setup.relay.asked == [("test", {"script": request.script})]


def test_one_relay_serves_all_partitions(tmp_path: Path) -> None:
    setup = Setup(tmp_path, "hpc/gpu")
    request = setup.backend.plan(JOB)
    assert "#SBATCH --partition=gpu" in request.script
    assert request.handle["site"] == "hpc/gpu"
    asyncio.run(setup.backend.submit(request))
    asyncio.run(setup.backend.cancel(request.handle))
    assert [cluster["name"] for cluster in setup.clusters] == ["hpc"]
    asyncio.run(setup.backend.close())
    assert setup.relay.is_closed


def test_a_job_outlives_its_configuration(setup: Setup) -> None:
    handle = setup.backend.plan(JOB).handle
    (setup.home / "config.yaml").write_text("{}")
    asyncio.run(setup.backend.cancel(handle))
    asyncio.run(setup.backend.suspend(handle))
    asyncio.run(setup.backend.resume(handle))
    assert setup.asked == ["cancel", "suspend", "resume"]
    assert setup.clusters[0]["login"] == "hpc"


def test_what_slurm_does_not_suspend_is_not_asked_for_again(tmp_path: Path) -> None:
    def answer(*_: Any) -> Json:
        raise AgentError("the job must not be requeued", hint="no-requeue")

    setup = Setup(tmp_path, answer=answer)
    with pytest.raises(ConflictError, match="must not be requeued") as caught:
        asyncio.run(setup.backend.suspend(setup.backend.plan(JOB).handle))
    assert caught.value.hint == "no-requeue"


def test_records_are_watched_as_the_relay_brings_them(setup: Setup) -> None:
    handle = setup.backend.plan(JOB).handle
    setup.relay.updates = [Update(({"seq": 4, "type": "end"},))]

    async def seen() -> list[int]:
        return [update.seq async for update in setup.backend.watch(handle, 3)]

    assert asyncio.run(seen()) == [4]
    (track, _), (watch, fields) = setup.relay.asked
    assert (track, watch, fields["after"]) == ("track", "watch", 3)


def test_a_lost_job_is_tracked_again(setup: Setup) -> None:
    request = setup.backend.plan(JOB)
    assert not asyncio.run(setup.backend.recover(request.handle))
    asyncio.run(setup.backend.submit(request))
    assert asyncio.run(setup.backend.recover(request.handle))
    assert asyncio.run(setup.backend.recover(request.handle, cancelled=True))
    assert setup.asked == ["submit", "track", "track", "cancel"]


def test_a_job_is_deleted_on_both_sides(setup: Setup) -> None:
    request = setup.backend.plan(JOB)
    asyncio.run(setup.backend.submit(request))
    asyncio.run(setup.backend.delete(request.handle))
    assert setup.asked[-1] == "forget"
    assert not (setup.home / "jobs" / JOB.id).exists()


def test_a_login_node_that_is_away_is_said(tmp_path: Path) -> None:
    setup = Setup(tmp_path, answer=unreachable)
    assert isinstance(setup.backend, Remote)
    handle = setup.backend.plan(JOB).handle
    absence = asyncio.run(setup.backend.absence(handle))
    assert absence is not None
    assert absence.problem == "the login node does not answer"
    with pytest.raises(UnavailableError):
        asyncio.run(setup.backend.look())
    asyncio.run(setup.backend.survey())
    (check,) = setup.backend.check()
    assert (check.ok, check.fix) == (False, "try ssh hpc")


def test_a_relay_is_told_what_is_configured_now(setup: Setup) -> None:
    asyncio.run(setup.backend.look())
    text = "clusters: {hpc: {login: hpc, env: {PATH: /opt/slurm/bin}}}\n"
    (setup.home / "config.yaml").write_text(text)
    asyncio.run(setup.backend.survey())
    assert [cluster["env"] for cluster in setup.relay.described] == [{}, {"PATH": "/opt/slurm/bin"}]
    assert len(setup.clusters) == 1


def test_what_a_cluster_has_is_known_for_a_while(setup: Setup) -> None:
    asyncio.run(setup.backend.look())
    asyncio.run(setup.backend.look())
    assert setup.asked == ["facts"]
    asyncio.run(setup.backend.survey())
    assert setup.asked == ["facts", "facts", "command"]
    assert setup.relay.asked[-1] == ("command", {"argv": ["apptainer", "--version"]})
    assert setup.backend.capacity().gpus == ("GPU/0", "GPU/1")
    assert all(check.ok for check in setup.backend.check())
    assert not any(setup.backend.capabilities().values())


def test_a_short_job_tells_what_a_node_sees(tmp_path: Path) -> None:
    def answer(operation: str, _fields: Mapping[str, Any]) -> Json:
        if operation == "command":
            told = "node=n1\nwritable=yes\napptainer=apptainer version 1.4.1\npython=3.11.2\n"
            return {"status": 0, "stdout": told, "stderr": ""}
        return dict(FACTS)

    setup = Setup(tmp_path, answer=answer)
    assert isinstance(setup.backend, Probing)
    asyncio.run(setup.backend.survey())
    asyncio.run(setup.backend.probe())
    failed = [check for check in setup.backend.check() if not check.ok]
    assert [check.detail for check in failed] == ["node n1 does not see /home/me/.trainway/slurm"]
    asyncio.run(setup.backend.survey())
    assert all(check.ok for check in setup.backend.check())


def test_a_short_job_is_not_tried_where_nobody_answers(tmp_path: Path) -> None:
    setup = Setup(tmp_path, answer=unreachable)
    asyncio.run(setup.backend.survey())
    asyncio.run(setup.backend.probe())
    assert setup.asked == ["facts"]


def contained() -> Json:
    made = jobset(role("node"))
    made["metadata"]["annotations"] = {"trainway.dev/isolation": "container"}
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["image"] = "a:1"
    return made


def test_images_need_a_cluster_that_has_them(setup: Setup) -> None:
    made = contained()
    with pytest.raises(UnavailableError, match="neither Pyxis nor Apptainer"):
        setup.backend.problems(made, made)
    asyncio.run(setup.backend.look())
    assert setup.backend.problems(made, made) == ([], [])
    assert "apptainer exec" in setup.backend.plan(workload(made)).script


@pytest.mark.parametrize(
    ("tool", "word"), [("singularity", "singularity exec"), ("pyxis", ""), ("none", "")]
)
def test_a_tool_that_is_configured_is_used(setup: Setup, tool: str, word: str) -> None:
    text = f"clusters: {{hpc: {{login: hpc, containers: {tool}}}}}\n"
    (setup.home / "config.yaml").write_text(text)
    asyncio.run(setup.backend.look())
    made = contained()
    assert bool(setup.backend.capabilities()[Feature.IMAGES]) is not bool(word)
    if word:
        assert setup.backend.problems(made, made) == ([], [])
        assert word in setup.backend.plan(workload(made)).script
    else:
        with pytest.raises(UnavailableError, match="neither Pyxis nor Apptainer"):
            setup.backend.problems(made, made)


def test_options_that_are_ours_are_refused(setup: Setup) -> None:
    made = jobset(role("node"))
    made["metadata"]["annotations"] = {"trainway.dev/slurm-options": '{"output": "x"}'}
    errors, _ = setup.backend.problems(made, made)
    assert len(errors) == 1
    assert "output: cannot be set" in errors[0]


def test_places_are_clusters(setup: Setup) -> None:
    assert setup.backend.name == "slurm/hpc"
    assert setup.backend.places() == ["slurm/hpc"]
    (setup.home / "config.yaml").write_text("clusters: 1")
    assert setup.backend.places() == ["slurm"]


def test_strays_are_found_by_their_plans(setup: Setup) -> None:
    asyncio.run(setup.backend.submit(setup.backend.plan(JOB)))
    (stray,) = setup.backend.strays(list)
    assert stray.handle["site"] == "hpc/main"
    assert setup.backend.plan(stray).handle["id"] == JOB.id
    assert setup.backend.strays(lambda: [JOB.id]) == []


def test_a_request_of_another_backend_is_a_mistake(setup: Setup) -> None:
    other: Any = object()
    with pytest.raises(TypeError):
        asyncio.run(setup.backend.rehearse(other))


def test_an_unknown_cluster_is_said(tmp_path: Path) -> None:
    setup = Setup(tmp_path, "hcp")
    with pytest.raises(TrainwayError, match="did you mean"):
        setup.backend.plan(JOB)
