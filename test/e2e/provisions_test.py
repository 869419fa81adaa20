import stat
from pathlib import Path

import environments
import pytest
from provisions import KINDS, get, main
from s3_server import versitygw

from cluster import builds

FAKE_GO = """\
#!/bin/sh
echo "$@" >> "$GOBIN/../../calls"
echo "CGO_ENABLED=$CGO_ENABLED GOGC=$GOGC" >> "$GOBIN/../../calls"
test ! -e "$GOBIN/../../broken" || { echo "no such module" >&2; exit 1; }
touch "$GOBIN/versitygw"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a `go` that only notes how it is called."""
    program = tmp_path / "bin" / "go"
    program.parent.mkdir()
    program.write_text(FAKE_GO)
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CI", raising=False)
    return tmp_path / "cache" / "trainway"


def test_every_environment_of_the_tests_is_got_ahead() -> None:
    named = {
        value
        for name, value in vars(environments).items()
        if name.isupper() and name not in {"USUAL", "DEEPSPEED"} and isinstance(value, tuple)
    }
    assert set(environments.USUAL) == named
    assert len(KINDS["environments"]) == len(named) + 1


def test_a_program_is_compiled_once_with_the_flags_of_the_clusters_programs(cache: Path) -> None:
    assert get(versitygw) == 0
    assert versitygw().exists()
    words, variables = (cache / "calls").read_text().splitlines()
    assert words.startswith(f"install {' '.join(builds.COMPILER_FLAGS)} -ldflags -s -w ")
    assert words.endswith("/versitygw@v1.8.0")
    assert variables == "CGO_ENABLED=0 GOGC=400"


def test_what_cannot_be_had_is_said_and_not_kept(
    cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cache.mkdir(parents=True)
    (cache / "broken").touch()
    monkeypatch.setattr("provisions.KINDS", {"programs": [versitygw]})
    assert main(["programs"]) == 1
    assert "versitygw: no such module" in caplog.text
    (cache / "broken").unlink()
    assert get(versitygw) == 0
