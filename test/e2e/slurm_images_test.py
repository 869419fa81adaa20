"""Pods in images on Slurm: with Apptainer where there is one, else with what does the same here."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from image_root import make_image_root
from slurm_site import ON, SlurmSite, site_of

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

STAND_IN = Path(__file__).with_name("apptainer_stand_in")


@pytest.fixture
def site(slurm_cluster: SlurmCluster, tmp_path: Path) -> Iterator[SlurmSite]:
    variables: dict[str, str] = {}
    if shutil.which("apptainer") is None:
        programs = tmp_path / "bin"
        programs.mkdir()
        (programs / "apptainer").symlink_to(STAND_IN)
        variables["PATH"] = f"{programs}:{os.environ['PATH']}"
    with site_of(slurm_cluster, tmp_path / "site", variables) as made:
        yield made


def test_pods_see_their_image_and_not_the_node(site: SlurmSite, tmp_path: Path) -> None:
    image = make_image_root(tmp_path / "image", "another root")
    script = (
        "cat /image; [ -e /usr/bin/env ] || echo alone; "
        'echo "$WORD" > "$TRAINWAY_OUTPUT_DIR/$JOB_COMPLETION_INDEX"'
    )
    words = ("--nodes", "2", "--image", str(image), "--env", "WORD=hello", "--name", "contained")

    printed = site.run("run", "--on", ON, *words, "--", "sh", "-c", script)

    said = [f"node-{node} | {text}" for node in range(2) for text in ("another root", "alone")]
    assert sorted(printed.splitlines()) == sorted(said)
    job = site.job("contained")
    assert "NotHonoured" not in site.run("jobs", "events", "contained")
    assert len({node["host"] for node in job["status"]["nodes"]}) == 2
    output = Path(job["status"]["outputDir"])
    assert {path.name: path.read_text() for path in output.iterdir()} == {
        "0": "hello\n", "1": "hello\n",
    }  # fmt: skip
