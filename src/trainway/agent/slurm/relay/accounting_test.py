from dataclasses import dataclass

import pytest

from trainway.agent.slurm.relay import accounting

CONFIG = """Configuration data as of 2026-11-15T15:00:00
AccountingStorageType   = accounting_storage/none
JobCompType             = jobcomp/filetxt
ClusterName             = hpc
"""


@dataclass(frozen=True)
class Kind:
    storage: str
    completion: str
    kind: str


@pytest.mark.parametrize(
    "case",
    [
        Kind("accounting_storage/slurmdbd", "jobcomp/none", accounting.DATABASE),
        Kind("accounting_storage/slurmdbd", "jobcomp/filetxt", accounting.DATABASE),
        Kind("accounting_storage/none", "jobcomp/filetxt", accounting.TEXT),
        Kind("accounting_storage/none", "jobcomp/none", accounting.NONE),
        Kind("(null)", "jobcomp/elasticsearch", accounting.NONE),
    ],
)
def test_what_there_is_to_ask(case: Kind) -> None:
    configuration = {"AccountingStorageType": case.storage, "JobCompType": case.completion}
    assert accounting.kind_of(configuration) == case.kind


def test_the_configuration_is_read_as_it_is_printed() -> None:
    found = accounting.settings(CONFIG)
    assert found["ClusterName"] == "hpc"
    assert accounting.kind_of(found) == accounting.TEXT


def test_all_jobs_are_asked_for_at_once() -> None:
    words = accounting.query(accounting.DATABASE, ["12", "7_3", "7_4"])
    assert "--jobs=7,12" in words
    assert "--completion" not in words
    assert "--completion" in accounting.query(accounting.TEXT, ["1"])


def found(text: str) -> dict[str, tuple[str, str, str]]:
    return {job: (e.state, e.exit_code, e.by) for job, e in accounting.parse(text).items()}


@dataclass(frozen=True)
class Case:
    text: str
    ended: dict[str, tuple[str, str, str]]


@pytest.mark.parametrize(
    "case",
    [
        Case("12|COMPLETED|0:0\n", {"12": ("COMPLETED", "0:0", "")}),
        Case("12|CANCELLED by 1000|0:15\n", {"12": ("CANCELLED", "0:15", "1000")}),
        Case("12|CANCELLED\n", {"12": ("CANCELLED", "", "")}),
        Case("12|RUNNING|0:0\n13|PENDING|0:0\n", {}),
        Case("12|PREEMPTED\n12|COMPLETED\n", {"12": ("COMPLETED", "", "")}),
        Case("12|NODE_FAIL|0:0\n12|RUNNING|0:0\n", {}),
        Case("9+0|FAILED|1:0\n9+1|CANCELLED|0:9\n", {"9": ("FAILED", "1:0", "")}),
        Case("12|FAILED|1:0\n12.batch|TIMEOUT|0:0\n", {"12": ("FAILED", "1:0", "")}),
        Case("7_3|TIMEOUT|0:0\n", {"7_3": ("TIMEOUT", "0:0", "")}),
        Case("sacct: error: no such thing\n", {}),
    ],
)
def test_how_jobs_ended(case: Case) -> None:
    assert found(case.text) == case.ended


def test_jobs_are_found_by_their_comments() -> None:
    text = "11|trainway:other\n12|trainway:mine words\n9+0|trainway:het\n13|\n7_3|trainway:many\n"
    assert accounting.owners(text) == {"other": "11", "mine": "12", "het": "9", "many_3": "7_3"}
