import pytest

from trainway.backends.slurm.images import errors, within
from trainway.backends.slurm.script import Within
from trainway.backends.slurm.testing import jobset, role
from trainway.json_types import Json


def contained(image: str, *paths: str) -> Json:
    made: Json = jobset(role("node"))
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["image"] = image
    volumes = [{"name": path.strip("/"), "hostPath": {"path": path}} for path in paths]
    pod["volumes"] = [{"name": "scratch", "emptyDir": {}}, *volumes]
    return made


def ways(image: str, tool: str, *paths: str) -> Within:
    return within(contained(image, *paths), tool)["node"]


@pytest.mark.parametrize(
    ("image", "word"),
    [
        ("python:3.12", "--container-image=python:3.12"),
        ("team/tool:1", "--container-image=team/tool:1"),
        ("nvcr.io/nvidia/pytorch:24.01", "--container-image='nvcr.io#nvidia/pytorch:24.01'"),
        ("docker://localhost/x", "--container-image='localhost#x'"),
        ("/images/x.sqsh", "--container-image=/images/x.sqsh"),
        ("~/x.sqsh", '--container-image="$HOME"/x.sqsh'),
        ("a$(b)", "--container-image='a$(b)'"),
    ],
)
def test_pyxis_has_a_mark_between_registry_and_image(image: str, word: str) -> None:
    assert ways(image, "pyxis").options[0] == word


@pytest.mark.parametrize(
    ("image", "word"),
    [
        ("python:3.12", "docker://python:3.12"),
        ("oras://x/y", "oras://x/y"),
        ("/images/my image.sif", "'/images/my image.sif'"),
        ("~/my.sif", '"$HOME"/my.sif'),
    ],
)
def test_apptainer_is_told_where_an_image_comes_from(image: str, word: str) -> None:
    assert ways(image, "apptainer").words[-1] == word


def test_apptainer_may_have_its_old_name() -> None:
    assert ways("python:3.12", "singularity").words[:2] == ("singularity", "exec")


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("pyxis", ('--container-mounts="$TRAINWAY_JOB_DIR:$TRAINWAY_JOB_DIR",/data:/data',)),
        ("apptainer", ("--bind", '"$TRAINWAY_JOB_DIR"', "--bind", "/data")),
    ],
)
def test_what_volumes_have_of_a_node_is_in_the_image_too(tool: str, words: tuple[str, ...]) -> None:
    found = ways("/x.sif", tool, "/data", "/data")
    line = (*found.options, *found.words)
    assert line[line.index(words[0]) :][: len(words)] == words
    assert sum("/data" in word for word in line) == 1


def test_a_path_that_cannot_be_bound_is_refused() -> None:
    assert list(errors(contained("/x.sif", "/data"))) == []
    (said,) = errors(contained("/x.sif", "/a:b"))
    assert said == "role node: hostPath /a:b: a path with : or , cannot be mounted into an image"


def test_without_a_tool_there_is_no_way() -> None:
    assert within(jobset(role("node")), "none") == {}
