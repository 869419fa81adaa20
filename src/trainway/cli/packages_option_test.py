from collections.abc import Sequence
from pathlib import Path

import pytest

from trainway.cli.packages_option import package_words
from trainway.errors import UsageError


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("--packages torch==2.9 trl train.py a", "--packages=torch==2.9 --packages=trl train.py a"),
        ("train.py --packages six trl", "train.py --packages=six --packages=trl"),
        ("train.py --packages six --lr 1", "train.py --packages=six --lr 1"),
        ("--packages ls==1 ls==2 job.yaml", "--packages=ls==1 --packages=ls==2 job.yaml"),
        ("--packages=six ls -l", "--packages=six ls -l"),
        ("train.py --packages", "train.py --packages"),
        ("train.py --packages six here", "train.py --packages=six here"),
    ],
)
def test_packages_are_those_that_follow(
    words: str, read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").touch()
    assert list(package_words(words.split(), ends_there=False)) == read.split()


def test_a_program_may_come_after_a_double_dash() -> None:
    words = ["--packages", "six", "ls"]
    assert list(package_words(words, ends_there=True)) == ["--packages=six", "--packages=ls"]


def test_a_setting_is_no_package() -> None:
    words = "m d --packages trl ls torch==2 peft>=1 epochs=3 columns.prompt=q six"
    read = "m d --packages=trl --packages=ls --packages=torch==2 --packages=peft>=1"
    found = list(package_words(words.split(), ends_there=True, has_settings=True))
    assert found == [*read.split(), "epochs=3", "columns.prompt=q", "six"]


@pytest.mark.parametrize("words", [["--packages", "six", "ls", "-l"]])
def test_a_word_that_could_be_either_is_refused(words: Sequence[str]) -> None:
    with pytest.raises(UsageError, match="ls could be a package or the program to run"):
        list(package_words(words, ends_there=False))
