from pathlib import Path

import pytest

from trainway.errors import NotFoundError, UsageError
from trainway.jobset.labels import PACKAGES
from trainway.sdk.packages import asking_for, requirement_lines


def test_files_include_files(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.txt").write_text("torch==2.9\n")
    first = tmp_path / "requirements.txt"
    first.write_text("-r more/base.txt\ntrl\n")
    lines = requirement_lines(["six"], [first], ["http://a", "http://b"])
    assert lines == [
        "--index-url http://a", "--extra-index-url http://b", "six", "torch==2.9", "trl",
    ]  # fmt: skip
    first.write_text("-r requirements.txt\n")
    with pytest.raises(UsageError, match="too deeply"):
        requirement_lines([], [first])


def test_a_file_may_begin_with_a_mark(tmp_path: Path) -> None:
    file = tmp_path / "requirements.txt"
    file.write_text("six\n", "utf-8-sig")
    assert requirement_lines([], [file]) == ["six"]


def test_one_word_is_one_package() -> None:
    assert requirement_lines("six") == ["six"]


@pytest.mark.parametrize(
    ("packages", "content", "message"),
    [
        ((), "", "no packages are named"),
        ((), "-e .", "-e names files"),
        (["./x"], "a", "absolute path"),
        ((), "\udcff", "cannot be read"),
    ],
)
def test_what_cannot_be_installed_is_refused(
    packages: list[str], content: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "r.txt"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=message):
        requirement_lines(packages, [file])
    with pytest.raises(NotFoundError, match="there is no file"):
        requirement_lines([], [tmp_path / "no.txt"])


def test_a_job_keeps_the_packages_that_it_names() -> None:
    job = {"kind": "TrainJob", "metadata": {"annotations": {PACKAGES: "six"}}}
    runtime = {"kind": "TrainingRuntime", "metadata": {}}
    asked, other = asking_for([job, runtime], ["trl", "six"])
    assert asked["metadata"]["annotations"][PACKAGES] == "six\ntrl"
    assert other == runtime
    assert asking_for([job], []) == [job]
