from dataclasses import dataclass
from typing import Any

import pytest

from trainway.sdk.bundle import Bundle, with_bundle
from trainway.sdk.manifests import Wishes, plain_jobset
from trainway.sdk.travel import staying, travelling

HERE = ("data/train.csv", "train.py", "output", "model.bin")


@dataclass(frozen=True)
class Case:
    """A command, and the files in it that stay behind."""

    command: list[str]
    staying: str


CASES = [
    Case(["python", "/opt/trainway/files/train.py"], ""),
    Case(["python", "train.py"], "train.py is here and does"),
    Case(["a", "--data=data/train.csv", "model.bin"], "data/train.csv, model.bin are here and do"),
    Case(["a", "data/train.csv", "--again", "data/train.csv"], "data/train.csv is here and does"),
    Case(["sh", "-c", "cat train.py"], ""),
    Case(["a", "output", "/data/train.csv", "no.csv", "..", "a\x00.b"], ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.command[-2:]))
def test_files_that_are_named_and_do_not_travel(case: Case) -> None:
    job = plain_jobset(Wishes(name="a", on="k8s"), case.command)
    told = staying([job], HERE.__contains__)
    rest = " not travel to the pods: the image must provide them"
    assert told == (f"{case.staying}{rest}" if case.staying else "")


def test_of_hosts_other_words_are_used() -> None:
    job = plain_jobset(Wishes(name="a", on="ssh/lab"), ["python3", "train.py"])
    objects = with_bundle([job], Bundle({"main.py": b""}))
    assert staying(objects, HERE.__contains__, to_hosts=True) == (
        "train.py is here and does not travel to the hosts: they must provide them"
    )
    assert travelling(objects, to_hosts=True) == (
        "main.py travels to the hosts; nothing else of this folder does"
    )


def test_words_of_a_trainjob_count_too() -> None:
    trainer = {"command": ["torchrun", "train.py"], "args": ["model.bin"]}
    job: dict[str, Any] = {"kind": "TrainJob", "spec": {"trainer": trainer}}
    assert staying([job], HERE.__contains__).startswith("train.py, model.bin are here")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (("train.py",), "train.py travels to the pods; nothing else of this folder does"),
        (("train.py", "b.py"), "train.py and 1 module beside it travel to the pods; nothing"),
        (("train.py", "b.py", "c.py"), "train.py and 2 modules beside it travel to the pods;"),
        (("train.py", "trainway_mpirun.py"), "train.py travels to the pods;"),
    ],
)
def test_what_travels_is_told(files: tuple[str, ...], told: str) -> None:
    job = plain_jobset(Wishes(name="a", on="k8s"), ["python"])
    objects = with_bundle([job], Bundle(dict.fromkeys(files, b"")))
    assert travelling(objects).startswith(told)
    assert travelling([job]) == ""
