import pytest

from trainway.backends.slurm.refusals import errors, needs_images, warnings
from trainway.backends.slurm.testing import jobset, role
from trainway.jobset.labels import SLURM_MPI
from trainway.json_types import Json


def contained(*images: str) -> Json:
    made = jobset(role("node"))
    made["metadata"]["annotations"] = {"trainway.dev/isolation": "container"}
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"] = [
        {"name": f"c{index}", "image": image, "command": ["true"]}
        for index, image in enumerate(images)
    ]
    return made


def test_what_slurm_can_do_is_not_refused() -> None:
    made = jobset(role("a", cpu="500m", memory="1Gi", **{"nvidia.com/gpu": 1}))
    assert errors(made, made, {}, "") == []
    assert errors(contained("a:1", "a:1"), made, {}, "pyxis") == []
    assert warnings(made) == []
    spec = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    spec["containers"][0]["resources"]["limits"] = {"memory": "2Gi"}
    assert warnings(made) == []


@pytest.mark.parametrize(
    ("made", "said", "tool", "wanted"),
    [
        (
            jobset(role("a", **{"example.com/fpga": 1})),
            {},
            "",
            "role a: resource example.com/fpga: Trainway asks Slurm only for CPUs, memory",
        ),
        (jobset(role("a", replicas=0)), {}, "", "there are no pods"),
        (jobset(role("a", cpu=1), role("b", cpu=2)), {"nodes": "1"}, "", "slurm option nodes: "),
        (
            contained("a:1", "b:1"),
            {},
            "pyxis",
            "role node: its containers have the images a:1, b:1: a pod on Slurm runs in one",
        ),
        (contained(""), {}, "pyxis", "image: Required value"),
        (
            contained("./x.sif"),
            {},
            "apptainer",
            "image ./x.sif: a file on the cluster must be given",
        ),
    ],
)
def test_what_slurm_cannot_do_is(made: Json, said: Json, tool: str, wanted: str) -> None:
    (found,) = errors(made, made, said, tool)
    assert wanted in found


def test_a_device_may_be_named_as_slurm_does() -> None:
    made = jobset(role("a", **{"example.com/fpga": 1}))
    assert errors(made, made, {"gres": "fpga:1"}, "") == []


def test_ranks_of_srun_come_later() -> None:
    made = jobset(role("a"))
    source = {"metadata": {"annotations": {SLURM_MPI: "pmix"}}}
    (found,) = errors(made, source, {}, "")
    assert "cannot start the ranks yet" in found


def test_images_do_not_travel() -> None:
    made = contained("a:1")
    (found,) = errors(made, made, {}, "pyxis", shared=False)
    assert "images need a directory that all nodes see" in found
    made["metadata"]["annotations"] = {}
    assert errors(made, made, {}, "pyxis", shared=False) == []


def test_commands_are_needed_in_images_too() -> None:
    made = contained("a:1")
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    del pod["containers"][0]["command"]
    (found,) = errors(made, made, {}, "pyxis")
    assert "command: Required value" in found


@pytest.mark.parametrize(
    ("made", "tool", "is_said"),
    [
        (jobset(role("a")), "", False),
        (contained("a:1"), "pyxis", False),
        (contained("a:1"), "none", True),
        (contained("a:1"), "", True),
    ],
)
def test_images_need_something_that_runs_them(made: Json, tool: str, is_said: bool) -> None:
    said = needs_images(made, tool, "hpc")
    assert said == (
        "the job runs in an image, and cluster hpc has neither Pyxis nor Apptainer"
        if is_said
        else ""
    )


def test_images_that_are_not_used_are_told() -> None:
    made = contained("a:1")
    assert warnings(made) == []
    made["metadata"]["annotations"] = {}
    assert warnings(made) == ["runs with the nodes' own programs: the image a:1 is not used"]


def test_a_launcher_in_an_image_needs_srun_there() -> None:
    made = contained("a:1")
    made["spec"]["replicatedJobs"].append({**made["spec"]["replicatedJobs"][0], "name": "launcher"})
    (said,) = warnings(made)
    assert "srun, which its image has to have" in said
