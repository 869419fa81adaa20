"""JobSets that are run with `--on slurm/test` end as recorded on a real Kubernetes.

The folder is `shared/conformance` beside the repository, and its own comparison decides. It asks
about each job three times a second; here it asks the server itself, since starting a command each
time would take all of this machine.
"""

from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
from installation import TRAINWAY
from jobset_comparison import CASES, SETTLE_S, loaded
from slurm_fixtures import slurm_cluster
from slurm_site import ON, SlurmSite, site_of

from slurm_cluster import SlurmCluster
from trainway.sdk.address import Home
from trainway.sdk.rest import Rest

__all__ = ["slurm_cluster"]

Json = dict[str, Any]

AT_ONCE: Final = 8

pytestmark = [
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(not CASES.is_dir(), reason="no shared/conformance here"),
]


@pytest.fixture
def site(
    slurm_cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmSite]:
    with site_of(slurm_cluster, tmp_path_factory.mktemp("slurm")) as made:
        yield made


def test_jobsets_behave_as_recorded(site: SlurmSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.run("jobs", "list")
    for name, value in site.environ().items():
        monkeypatch.setenv(name, value)
    comparison = loaded()
    found = Home(site.home)
    rest = Rest.connect(str(found.address(found.server_info())))

    def status_of(_command: object, name: str) -> tuple[Json, None]:
        return rest.get(name)["status"]["jobSet"], None

    monkeypatch.setattr(comparison, "status_of", status_of)
    paths = sorted(CASES.glob("*.json"))
    how = Namespace(cmd=str(TRAINWAY), on=ON, image="none", timeout=120.0, settle=SETTLE_S)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        outcomes = threads.map(lambda path: comparison.run_case(path, how), paths)
        differences = {path.stem: lines for path, lines in zip(paths, outcomes, strict=True)}

    assert {name: lines for name, lines in differences.items() if lines} == {}
    assert site.slurm.run("squeue", "-h") == ""
