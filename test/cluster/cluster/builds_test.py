import os
from pathlib import Path

import pytest

from cluster import builds
from cluster.builds import ALL, KUBERNETES, KWOK, Module
from cluster.unavailable import UnavailableError

FAKE_GO = """\
#!/bin/sh
echo "$@" >> "$GO_CALLS"
echo "$GOGC" > "$GO_CALLS.garbage"
while [ "$1" != -o ]; do shift; done
output=$2
shift 2
for package; do echo program > "$output$(basename "$package")"; done
test ! -e "$GO_CALLS.fail"
"""


@pytest.fixture
def go_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `go` that only notes how it is called, and an empty cache."""
    program = tmp_path / "bin" / "go"
    program.parent.mkdir()
    program.write_text(FAKE_GO)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


def test_a_program_is_built_once(go_calls: Path) -> None:
    first = builds.build(KUBERNETES, ["kubectl"])
    assert builds.build(KUBERNETES, ["kubectl"]) == first
    assert (first / "kubectl").read_text() == "program\n"
    assert go_calls.read_text().count("k8s.io/kubernetes/cmd/kubectl") == 1
    assert go_calls.with_name("calls.garbage").read_text() == "400\n"


def test_what_is_asked_for_together_is_built_together_and_the_rest_later(go_calls: Path) -> None:
    builds.build(KUBERNETES, ["kubectl"])
    folder = builds.build(KUBERNETES, ["kubectl", "jobset", "scheduler-plugins"])
    assert sorted(path.name for path in folder.iterdir()) == [
        *("jobset", "kubectl", "scheduler-plugins"),
    ]
    assert [call.count("sigs.k8s.io") for call in go_calls.read_text().splitlines()] == [0, 2]
    assert not list(folder.parent.glob("partial-*"))


def test_a_program_that_another_run_builds_does_not_hold_up_the_others(go_calls: Path) -> None:
    folder = builds.build(KUBERNETES, ["kubectl"])
    with builds.locked(folder.with_name("kubelet.lock")):
        assert builds.build(KUBERNETES, ["kubectl", "jobset"]) == folder
    assert (folder / "jobset").exists()


def test_what_an_interrupted_build_left_is_not_used(go_calls: Path) -> None:
    failure = go_calls.with_name("calls.fail")
    failure.touch()
    with pytest.raises(UnavailableError, match="kubectl"):
        builds.build(KUBERNETES, ["kubectl"])
    failure.unlink()
    folder = builds.build(KUBERNETES, ["kubectl"])
    assert sorted(path.name for path in folder.iterdir()) == ["kubectl"]


def test_without_go_what_is_built_already_is_used(
    go_calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = builds.build(KUBERNETES, ["kubectl"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert builds.build(KUBERNETES, ["kubectl"]) == folder
    with pytest.raises(UnavailableError, match="go: not found, and kubelet must be built"):
        builds.build(KUBERNETES, ["kubectl", "kubelet"])


@pytest.mark.parametrize("module", ALL, ids=lambda m: m.name)
def test_the_module_files_pin_every_program(module: Module) -> None:
    text = (module.folder / "go.mod").read_text()
    for package in module.packages.values():
        assert package in text or (module.folder / package / "main.go").exists()
    assert f"{module.versioned_by} {module.version()} h1:" in (module.folder / "go.sum").read_text()


def test_the_staging_modules_have_the_version_of_kubernetes() -> None:
    version = KUBERNETES.version().replace("v1.", "v0.", 1)
    rows = [line.split() for line in (KUBERNETES.folder / "go.mod").read_text().splitlines()]
    replaced = {row[0]: row[3] for row in rows if row[1:2] == ["=>"]}
    assert len(replaced) == 31
    assert set(replaced.values()) == {version}


def test_kwok_has_the_libraries_of_kubernetes_so_that_they_are_compiled_once() -> None:
    theirs, its = used_versions(KUBERNETES), used_versions(KWOK)
    shared = theirs.keys() & its.keys()
    assert {"k8s.io/api", "k8s.io/client-go", "google.golang.org/grpc"} <= shared
    differ = {name for name in shared if theirs[name] != its[name]}
    assert differ == {"k8s.io/cri-api", "k8s.io/cri-client"}  # its own code needs the newer ones


def used_versions(module: Module) -> dict[str, str]:
    """The versions that a module is built with: those required, or what replaces them."""
    rows = [line.split() for line in (module.folder / "go.mod").read_text().splitlines()]
    required = {row[0]: row[1] for row in rows if row[2:] == ["//", "indirect"]}
    return required | {row[0]: row[3] for row in rows if row[1:2] == ["=>"]}


def test_programs_say_which_version_they_are() -> None:
    command = builds.compile_command(KUBERNETES, ["kubectl", "jobset"], Path("out"))
    assert "gitVersion=v1.35.4" in " ".join(command)
    assert command[-4:] == ["-o", "out/", "k8s.io/kubernetes/cmd/kubectl", "sigs.k8s.io/jobset"]


@pytest.mark.parametrize("module", ALL, ids=lambda m: m.name)
def test_no_two_programs_of_a_module_are_written_to_the_same_file(module: Module) -> None:
    files = [package.rpartition("/")[2] for package in module.packages.values()]
    assert len(set(files)) == len(files)
