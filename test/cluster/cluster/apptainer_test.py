import os
from pathlib import Path

import pytest

from cluster import apptainer
from cluster.apptainer import MODULE, SETTINGS, SOURCE
from cluster.unavailable import UnavailableError

FAKE_GO = """\
#!/bin/sh
echo "$@" >> "$GO_CALLS"
case $1 in
mod) echo "{\\"Dir\\": \\"$GO_SOURCE\\"}" ;;
run) echo "${GO_BUILD_TAGS:?}" > config.go ;;
build)
    while [ "$1" != -o ]; do shift; done
    mkdir -p "$2"
    printf '#!/bin/sh\\necho "root default capabilities = full" > "$2"\\n' > "$2/apptainer"
    echo program > "$2/starter"
    chmod +x "$2/apptainer"
    test -e builddir/config.h && test -e internal/pkg/buildcfg/config.go &&
        test ! -e "$GO_CALLS.fail"
    ;;
esac
"""
MCONFIG = 'mkdir builddir && echo "$@" > builddir/config.h && cat VERSION >> builddir/config.h\n'


@pytest.fixture
def go_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `go` that only notes how it is called, a source as Go keeps it, and an empty cache."""
    program, source = tmp_path / "bin" / "go", tmp_path / "source"
    for path, text in {"mconfig": MCONFIG, **dict.fromkeys(SETTINGS.values(), "")}.items():
        file = source / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o444)
    (source / "internal/pkg/buildcfg").mkdir(parents=True)
    program.parent.mkdir()
    program.write_text(FAKE_GO)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("GO_SOURCE", str(source))
    monkeypatch.setattr(apptainer, "COMPILER", "sh")
    monkeypatch.setattr(apptainer, "HEADER", program)
    return tmp_path / "calls"


def test_it_is_built_once_into_a_folder_like_that_of_an_installation(go_calls: Path) -> None:
    folder = apptainer.apptainer()
    assert apptainer.apptainer() == folder
    calls = go_calls.read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["mod", "run", "build"]
    assert calls[0].endswith(f"{SOURCE}@{MODULE.version()}")
    assert calls[2].endswith("./cmd/apptainer ./cmd/starter")
    root = folder.parent
    assert (root / "libexec/apptainer/bin/starter").read_text() == "program\n"
    assert (root / "etc/apptainer/apptainer.conf").read_text() == apptainer.CHOSEN
    assert (root / "etc/apptainer/nvliblist.conf").exists()
    assert [path.name for path in root.parent.iterdir() if path.is_dir()] == [root.name]


def test_what_an_interrupted_build_left_is_not_used(go_calls: Path) -> None:
    failure = go_calls.with_name("calls.fail")
    failure.touch()
    with pytest.raises(UnavailableError, match="apptainer: go build"):
        apptainer.apptainer()
    failure.unlink()
    assert (apptainer.apptainer() / "apptainer").exists()


def test_without_a_compiler_what_is_built_already_is_used(
    go_calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apptainer, "COMPILER", "no-such-compiler")
    with pytest.raises(UnavailableError, match="not found; apt-get install gcc"):
        apptainer.apptainer()
    assert not go_calls.exists()
    monkeypatch.setattr(apptainer, "COMPILER", "sh")
    folder = apptainer.apptainer()
    monkeypatch.setattr(apptainer, "COMPILER", "no-such-compiler")
    assert apptainer.apptainer() == folder


def test_without_go_it_says_so(
    go_calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="go: not found, and apptainer must be built"):
        apptainer.apptainer()
    assert not go_calls.exists()


def test_the_source_is_pinned_by_its_hash() -> None:
    sums = (MODULE.folder / "go.sum").read_text()
    assert f"{SOURCE} {MODULE.version()} h1:" in sums
    assert f"{SOURCE} {MODULE.version()}/go.mod h1:" in sums
