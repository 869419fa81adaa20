from pathlib import Path

from cluster.images import HOSTROOT
from host_programs import HostPrograms, outermost

PROGRAMS = HostPrograms(
    folders=("/usr", "/repository/examples"),
    files={"/etc/ssh/sshd_config": "/made/sshd_config"},
    scratch=("/repository",),
    search_path="/frameworks/bin:/bin",
    working_folder="/repository",
)


def test_a_pod_keeps_what_it_says_itself() -> None:
    container = {
        "name": "node",
        "image": "example.com/torch:1",
        "workingDir": "/tmp",
        "env": [{"name": "PATH", "value": "/bin"}],
        "volumeMounts": [{"name": "mine", "mountPath": "/usr"}],
    }
    pod = {"containers": [container], "volumes": [{"name": "mine", "emptyDir": {}}]}
    given = PROGRAMS.given_to(pod)
    (framed,) = given["containers"]
    assert (framed["image"], framed["imagePullPolicy"]) == (HOSTROOT, "Never")
    assert (framed["workingDir"], framed["env"]) == ("/tmp", container["env"])
    assert [(mount["name"], mount["mountPath"]) for mount in framed["volumeMounts"]] == [
        ("mine", "/usr"),
        ("host-programs-0", "/repository"),
        ("host-programs-2", "/repository/examples"),
        ("host-programs-3", "/etc/ssh/sshd_config"),
    ]
    assert container["image"] == "example.com/torch:1"


def test_all_containers_have_the_programs() -> None:
    given = PROGRAMS.given_to({"initContainers": [{"name": "a"}], "containers": [{"name": "b"}]})
    first, second = given["initContainers"][0], given["containers"][0]
    assert {key: first[key] for key in first if key != "name"} == {
        key: second[key] for key in second if key != "name"
    }
    assert first["env"] == [{"name": "PATH", "value": "/frameworks/bin:/bin"}]
    assert first["workingDir"] == "/repository"
    assert given["volumes"] == [
        {"name": "host-programs-0", "emptyDir": {}},
        {"name": "host-programs-1", "hostPath": {"path": "/usr", "type": "Directory"}},
        {
            "name": "host-programs-2",
            "hostPath": {"path": "/repository/examples", "type": "Directory"},
        },
        {"name": "host-programs-3", "hostPath": {"path": "/made/sshd_config", "type": "File"}},
    ]


def test_a_container_is_looked_at_as_soon_as_it_runs() -> None:
    probe = {"tcpSocket": {"port": 2222}, "initialDelaySeconds": 5}
    given = PROGRAMS.given_to({"containers": [{"name": "node", "readinessProbe": probe}]})
    assert given["containers"][0]["readinessProbe"] == {
        "tcpSocket": {"port": 2222},
        "initialDelaySeconds": 0,
        "periodSeconds": 1,
    }
    assert probe["initialDelaySeconds"] == 5, "the pod that was asked for is another one"


def test_a_folder_in_another_one_is_mounted_once() -> None:
    paths = [Path("/usr"), Path("/usr/lib/python"), Path("/opt"), Path("/usr")]
    assert outermost(paths) == [Path("/usr"), Path("/opt")]
