import pytest

from trainway.backends.slurm.section import ConfiguredCluster, clusters_of, errors, login_nodes
from trainway.json_types import Json

FULL = {
    "login": "hpc.example.com",
    "user": "me",
    "port": 2222,
    "identity": "~/.ssh/hpc",
    "options": ["-F", "~/hpc.conf"],
    "python": "/opt/python/bin/python3",
    "home": "/scratch/me/trainway",
    "shared": False,
    "partition": "gpu",
    "account": "lab",
    "sbatch_options": {"qos": "high", "exclusive": True},
    "env": {"PATH": "/opt/bin:/bin", "N": 2},
    "containers": "apptainer",
    "gpu_types": {"A100": "a100"},
    "outputs": "keep",
    "rest": {"url": "http://localhost:6820", "token_file": "~/token"},
}


def test_a_cluster_is_what_was_written() -> None:
    (cluster,) = clusters_of({"hpc": FULL}, "/home/me").values()
    assert cluster == ConfiguredCluster(
        name="hpc",
        login="me@hpc.example.com",
        port=2222,
        identity="/home/me/.ssh/hpc",
        ssh_options=("-F", "/home/me/hpc.conf"),
        python="/opt/python/bin/python3",
        home="/scratch/me/trainway",
        shared=False,
        partition="gpu",
        options={"account": "lab", "qos": "high", "exclusive": True},
        env={"PATH": "/opt/bin:/bin", "N": "2"},
        containers="apptainer",
        gpu_types={"A100": "a100"},
        outputs="keep",
        rest={"url": "http://localhost:6820", "token_file": "/home/me/token"},
    )
    assert not list(errors({"hpc": FULL}, ("clusters",)))
    assert cluster.batch_options() == {
        "account": "lab", "qos": "high", "exclusive": True, "partition": "gpu",
    }  # fmt: skip
    assert cluster.at("cpu").batch_options()["partition"] == "cpu"
    assert cluster.directory("abc") == "/scratch/me/trainway/jobs/abc"


def test_a_cluster_may_be_this_machines() -> None:
    assert clusters_of({"here": None}, "/home/me") == {"here": ConfiguredCluster("here")}
    assert ConfiguredCluster("here").directory("abc") == '"$HOME"/.trainway/slurm/jobs/abc'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"hpc": {"loign": "x"}}, 'clusters.hpc.loign: Unknown field: did you mean "login"?'),
        ({"hpc": {"home": "x"}}, "must be a path that begins with / or ~/"),
        ({"hpc": {"shared": "no"}}, "must be true or false"),
        ({"hpc": {"containers": "docker"}}, 'Unsupported value: "docker"'),
        (
            {"hpc": {"sbatch_options": {"output": "x"}}},
            "cannot be set: every rank has a log of its own",
        ),
    ],
)
def test_what_is_wrong_has_its_place(data: Json, said: str) -> None:
    (found,) = errors(data, ("clusters",))
    assert said in str(found)
    assert str(found).startswith("clusters.hpc.")


def test_login_nodes_may_stand_in_a_file_of_ssh() -> None:
    text = "Host hpc  other\n  HostName login.example.com\n  User me\nHost *\n  Port 22\n"
    assert login_nodes(text, "/home/me/.slurm/config") == {
        name: ConfiguredCluster(name, name, ssh_options=("-F", "/home/me/.slurm/config"))
        for name in ("hpc", "other")
    }


def test_a_cluster_is_known_again() -> None:
    (cluster,) = clusters_of({"hpc": FULL}, "/home/me").values()
    again = ConfiguredCluster.from_dict(cluster.to_dict(), "gpu")
    assert again.to_dict() == cluster.to_dict()
    assert (again.partition, again.shared) == ("gpu", False)


def test_what_is_kept_of_a_cluster_has_no_secrets() -> None:
    cluster = ConfiguredCluster("hpc", env={"HF_TOKEN": "hush", "PATH": "/bin"})
    assert cluster.to_dict()["env"] == {"PATH": "/bin"}
