"""`trainway optimize` and `trainway gpus`, on a small catalog of the test."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trainway.api.task.infra import CLOUDS
from trainway.cli.app import app

HEADER = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,"
    "AvailabilityZone\n"
)
AWS = (
    "p4d.24xlarge,A100,8,96,1152,20,8,us-east-1,use1-az1\n"
    "p4d.24xlarge,A100,8,96,1152,21,5,us-west-2,usw2-az1\n"
    "m6i.2xlarge,,,8,32,0.4,0.1,us-east-1,use1-az1\n"
    "m6g.2xlarge,,,8,32,0.3,0.1,us-east-1,use1-az1\n"
)
LAMBDA = "gpu_8x_a100,A100,8,124,1800,16,,us-east-1,\n"


@pytest.fixture(autouse=True)
def catalog(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "aws.csv").write_text(HEADER + AWS)
    (folder / "lambda.csv").write_text(HEADER + LAMBDA)
    monkeypatch.setenv("TRAINWAY_CATALOG", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def task(resources: str, name: str = "task.yaml") -> str:
    Path(name).write_text(f"name: train\nnum_nodes: 2\nresources: {resources}\nrun: 'true'\n")
    return name


def test_the_choice_for_programs() -> None:
    result = invoke("optimize", task("{accelerators: a100:8}"), "-o", "json")
    assert json.loads(result.stdout) == {
        "tasks": [
            {
                "name": "train",
                "chosen": {
                    "cloud": "lambda",
                    "instance_type": "gpu_8x_a100",
                    "region": "us-east-1",
                    "zone": None,
                    "spot": False,
                    "hourly_price": 16.0,
                    "nodes": 2,
                },
                "candidates": 3,
            }
        ],
        "hourly_price": 32.0,
        "total_cost": 32.0,
    }


def test_the_table_has_the_best_of_each_cloud_and_says_what_was_left_out() -> None:
    result = invoke("optimize", task("{accelerators: A100:8, use_spot: true}"))
    chosen = next(line for line in result.stdout.splitlines() if "✔" in line)
    assert chosen.split() == [
        "aws", "(usw2-az1)", "p4d.24xlarge[spot]", "96", "1152", "A100:8", "10.00", "✔",
    ]  # fmt: skip
    said = invoke("optimize", task("{cpus: 8+}")).stdout
    assert "1 machine type is left out: their processors are no x86-64 (--allow arm64" in said
    allowed = invoke("optimize", task("{cpus: 8+}"), "--allow", "arm64").stdout
    assert "m6g.2xlarge" in allowed
    assert "left out" not in allowed


def test_places_of_the_command_count_instead_of_those_of_the_task() -> None:
    file = task("{accelerators: A100:8, infra: lambda}")
    result = invoke("optimize", file, "--infra", "aws/us-west-2", "-o", "json")
    assert json.loads(result.stdout)["tasks"][0]["chosen"]["region"] == "us-west-2"


@pytest.mark.parametrize(
    ("words", "exit_code", "said"),
    [
        (("--infra", "awz"), 2, "there is no cloud 'awz'; did you mean aws?"),
        (("--allow", "everything"), 2, "there is no rule 'everything'"),
        (("--infra", "gcp"), 3, "task train: no offer of the catalog fits: gcp has none"),
        (("--infra", "aws/us-east-1/us-east-1a"), 3, "for example in use1-az1 (this catalog has"),
        (("--infra", "aws/us-east-1/use1-az9"), 3, "us-east-1 has, for example in use1-az1"),
    ],
)
def test_what_is_wrong_is_said(words: tuple[str, ...], exit_code: int, said: str) -> None:
    result = invoke("optimize", task("{accelerators: A100:8}"), *words)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert said in result.stderr


def test_what_is_no_task_is_refused() -> None:
    Path("job.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    result = invoke("optimize", "job.yaml")
    assert result.exit_code == 2
    assert "this is not a task" in result.stderr
    Path("wrong.yaml").write_text("resources: {cpus: many}\nrun: x\n")
    result = invoke("optimize", "wrong.yaml")
    assert result.exit_code == 1
    assert "cpus" in result.stderr


def test_a_wrong_catalog_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINWAY_CATALOG", "nowhere")
    result = invoke("gpus", "list")
    assert result.exit_code == 2
    assert "TRAINWAY_CATALOG: nowhere is not a folder" in result.stderr


def test_gpus_are_listed_and_shown() -> None:
    assert invoke("gpus", "list").stdout.split() == ["GPU", "COUNTS", "A100", "8"]
    best = [line.split()[2] for line in invoke("gpus", "list", "A100").stdout.splitlines()[1:]]
    assert best == ["gpu_8x_a100", "p4d.24xlarge"]
    shown = json.loads(invoke("gpus", "show", "A100:8", "--cloud", "aws", "-o", "json").stdout)
    assert [(each["price"], each["region"]) for each in shown] == [
        (20.0, "us-east-1"), (21.0, "us-west-2"),
    ]  # fmt: skip
    missing = invoke("gpus", "show", "A10")
    assert missing.exit_code == 3
    assert "did you mean A100?" in missing.stderr
    assert "hint: trainway gpus show A100 lists what" in invoke("gpus", "show", "A100:9").stderr
    for words in (("list",), ("list", "A100"), ("show", "A100")):
        refused = invoke("gpus", *words, "--cloud", "amazon")
        assert "the catalog has no cloud 'amazon'" in refused.stderr
        assert "hint: it has aws, lambda" in refused.stderr
    assert "did you mean lambda?" in invoke("gpus", "list", "--cloud", "lamda").stderr


def test_own_machines_stand_beside_clouds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path))
    prices = "{ssh/lab: {node: 0.5, gpus: {A100: 1.25}}, slurm: 3, local: {gpus: {T4: 0.1}}}"
    (tmp_path / "config.yaml").write_text(f"limits: {{}}\nprices: {prices}\n")
    file = task("{accelerators: a100:8}")
    answer = json.loads(invoke("optimize", file, "-o", "json").stdout)
    assert answer["tasks"][0]["own"] == [{"place": "ssh/lab", "hourly_price": 10.5, "nodes": 2}]
    text = invoke("optimize", file).stdout
    assert "ssh/lab             (own)         -      -        a100:8  21.00" in text
    assert "ssh/lab costs no more, if it has room" in text
    named = invoke("optimize", task("{accelerators: A100:8, infra: aws}"), "-o", "json")
    assert "own" not in json.loads(named.stdout)["tasks"][0]
    either = "{accelerators: A100:8, any_of: [{infra: aws}, {infra: ssh/lab}, {infra: slurm/hpc}]}"
    beside = json.loads(invoke("optimize", task(either), "-o", "json").stdout)["tasks"][0]
    assert (beside["chosen"]["cloud"], beside["own"][0]["place"]) == ("aws", "ssh/lab")
    for infra, said in (("ssh", "ssh/lab at $21.00 an hour"), ("ssh/other", "gpus list")):
        alone = invoke("optimize", task(f"{{accelerators: A100:8, infra: {infra}}}"))
        assert (alone.exit_code, said in alone.stderr) == (3, True), alone.stderr
    cpus = json.loads(invoke("optimize", task("{cpus: 4+}"), "-o", "json").stdout)
    assert [each["place"] for each in cpus["tasks"][0]["own"]] == ["local", "ssh/lab", "slurm"]
    (tmp_path / "config.yaml").write_text("prices: {ssh: cheap}\n")
    wrong = invoke("optimize", file)
    assert (wrong.exit_code, "prices.ssh" in wrong.stderr) == (1, True)
    (tmp_path / "config.yaml").write_text("clouds: [aws, reservations]\n")
    wrong = invoke("optimize", file)
    assert (wrong.exit_code, "clouds: Invalid value" in wrong.stderr) == (1, True)


def test_accelerators_are_asked_for_as_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / "catalog/scaleway.csv").write_text(
        HEADER + "GPU-3070-S,RTX 3070,1,8,16,1,,fr-par-2,\n"
    )
    assert "GPU-3070-S" in invoke("gpus", "show", "RTX 3070:1").stdout
    answer = json.loads(invoke("optimize", task("{gpus: rtx 3070}"), "-o", "json").stdout)
    assert answer["tasks"][0]["chosen"]["instance_type"] == "GPU-3070-S"


def test_each_alternative_may_have_a_number_of_nodes_of_its_own() -> None:
    resources = "{any_of: [{accelerators: 'A100:8', num_nodes: 3}, {cpus: 8}]}"
    chosen = json.loads(invoke("optimize", task(resources), "-o", "json").stdout)["tasks"][0]
    assert (chosen["chosen"]["instance_type"], chosen["chosen"]["nodes"]) == ("m6i.2xlarge", 2)
    alone = task("{any_of: [{accelerators: 'A100:8', num_nodes: 3}]}")
    answer = json.loads(invoke("optimize", alone, "-o", "json").stdout)
    assert (answer["tasks"][0]["chosen"]["nodes"], answer["hourly_price"]) == (3, 48.0)
    told = invoke("validate", alone)
    assert "resources.any_of.0.num_nodes: it counts where" in told.stderr
    wrong = invoke("validate", task("{num_nodes: 3, accelerators: 'A100:8'}"))
    assert (wrong.exit_code, "num_nodes" in wrong.stderr) == (1, True)


def test_what_a_cloud_cannot_do_leaves_it_out_and_is_said() -> None:
    shown = invoke("optimize", task("{accelerators: a100:8, disk_tier: high}")).stdout
    assert "p4d.24xlarge" in shown
    assert "lambda is left out: disk_tier high is not known to be there." in shown
    shown = invoke("optimize", task("{accelerators: a100:8, network_tier: best}")).stdout
    assert "1 machine type is left out: no such fast network of theirs is known." in shown
    nothing = invoke("optimize", task("{cpus: 8, local_disk: nvme:100}"))
    assert nothing.exit_code == 3
    assert "local_disk of nvme:100 (nvme:100+ takes larger ones too)" in nothing.output


def test_what_was_reserved_costs_nothing_and_is_marked(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    config = tmp_path / "home" / "config.yaml"
    paid = "{id: cr-1, instance_type: p4d.24xlarge, zone: us-west-2b, count: 2}"
    config.write_text(f"clouds: {{aws: {{reservations: [{paid}]}}}}\n")
    shown = invoke("optimize", task("{accelerators: a100:8}")).stdout
    assert "aws (us-west-2b)" in shown
    assert "p4d.24xlarge[reserved]" in shown
    found = json.loads(invoke("optimize", task("{accelerators: a100:8}"), "-o", "json").stdout)
    assert found["hourly_price"] == 0
    assert found["tasks"][0]["chosen"]["reservation"] == "cr-1"
    config.write_text("clouds: {aws: {reservations: [cr-1]}}\n")
    wrong = invoke("optimize", task("{accelerators: a100:8}"))
    assert wrong.exit_code == 1
    assert "clouds.aws.reservations" in wrong.output
    assert "must say what it is" in wrong.output


GROUP = """\
name: g
execution: parallel
---
{name: trainer, num_nodes: 2, resources: {accelerators: 'A100:8'}, run: a}
---
{name: replay, resources: {cpus: 8}, run: b}
"""


def test_a_job_group_is_in_one_region_and_has_a_price_together() -> None:
    Path("group.yaml").write_text(GROUP)
    chosen = json.loads(invoke("optimize", "group.yaml", "-o", "json").stdout)
    places = [each["chosen"]["cloud"] + "/" + each["chosen"]["region"] for each in chosen["tasks"]]
    assert places == ["aws/us-east-1"] * 2, "though A100s are cheaper where there are no others"
    assert chosen["hourly_price"] == 40.4
    said = "All tasks together: $40.40 an hour, in aws (us-east-1). They run side by side"
    assert said in invoke("optimize", "group.yaml").stderr
    Path("group.yaml").write_text(GROUP.replace("cpus: 8", "infra: aws/us-west-2, cpus: 8"))
    result = invoke("optimize", "group.yaml")
    assert (result.exit_code, "no offer of the catalog fits" in result.stderr) == (3, True)
    Path("group.yaml").write_text(GROUP.replace("8'}", "8', infra: lambda}"))
    result = invoke("optimize", "group.yaml")
    assert result.exit_code == 3
    assert "no region has machines for all tasks of the job group" in result.stderr


CATALOG = Path(__file__).parents[5] / "shared" / "data" / "catalog"


@pytest.mark.skipif(not CATALOG.is_dir(), reason="the shared data is not beside this repository")
def test_every_cloud_of_the_reference_catalog_can_be_named() -> None:
    clouds = {path.name.partition(".")[0] for path in CATALOG.glob("*.csv.gz")}
    assert clouds <= set(CLOUDS)
