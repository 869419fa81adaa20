import subprocess
from dataclasses import replace
from typing import Any

import pytest

from trainway.backends.slurm.layout import layout_of
from trainway.backends.slurm.script import (
    Sheet,
    annex_options,
    array_name,
    batch_line,
    option,
    text,
    time_limit,
)
from trainway.backends.slurm.testing import jobset, role

SHEET = Sheet(
    "abc",
    "demo",
    '"$HOME"/jobs/abc',
    layout_of(jobset(role("node", pods=2, cpu=2, memory="1Gi")), one_per_node=True),
)


def batch_lines(sheet: Sheet) -> list[str]:
    mark = "#SBATCH "
    return [line.removeprefix(mark) for line in text(sheet).splitlines() if line.startswith(mark)]


@pytest.mark.parametrize(
    ("word", "line"),
    [
        (option("exclusive"), "#SBATCH --exclusive"),
        (option("exclude", "node[1-3],x"), "#SBATCH --exclude=node[1-3],x"),
        (option("comment", "a b"), '#SBATCH --comment="a b"'),
        (option("comment", 'say "hi" # \\'), '#SBATCH --comment="say \\"hi\\" # \\\\"'),
        (option("constraint", "(a|b)&c"), '#SBATCH --constraint="(a|b)&c"'),
    ],
)
def test_options_are_quoted_as_sbatch_reads_them(word: str, line: str) -> None:
    assert batch_line(word) == line


@pytest.mark.parametrize(
    ("seconds", "grace", "wanted"),
    [
        (1, 30, "00:02:00"),
        (60, 0, "00:02:00"),
        (60, 30, "00:03:00"),
        (3600, 30, "01:02:00"),
        (86_400, 0, "1-00:01:00"),
        (10 * 86_400 + 3600, 30, "10-01:02:00"),
        (10**12, 30, "24855-03:14:00"),
        (2**63 - 1, 30, "24855-03:14:00"),
    ],
)
def test_slurm_gives_up_later_than_we_do(seconds: int, grace: int, wanted: str) -> None:
    assert time_limit(seconds, grace) == wanted


@pytest.mark.parametrize(
    ("options", "there", "gone"),
    [
        ({"mem": "0"}, "--mem=0", "--mem=1024M"),
        ({"mem-per-cpu": "2G"}, "--mem-per-cpu=2G", "--mem=1024M"),
        ({"cpus-per-task": "8"}, "--cpus-per-task=8", "--cpus-per-task=2"),
        ({"nodes": "1-2"}, "--nodes=1-2", "--nodes=2"),
        ({"no-requeue": True}, "--no-requeue", "--requeue"),
        ({"time": "5"}, "--time=5", "--time=00:03:00"),
    ],
)
def test_what_is_passed_takes_the_place_of_ours(
    options: dict[str, Any], there: str, gone: str
) -> None:
    sheet = replace(SHEET, deadline=60)
    assert gone in batch_lines(sheet)
    lines = batch_lines(replace(sheet, options=options))
    assert lines.count(there) == 1
    assert gone not in lines


def test_a_remark_follows_our_mark() -> None:
    assert '--comment="trainway:abc for the paper"' in batch_lines(
        replace(SHEET, options={"comment": "for the paper"})
    )


def test_parts_of_a_heterogeneous_job_each_have_what_is_passed() -> None:
    made = jobset(role("a", cpu=1), role("b", cpu=2))
    sheet = replace(
        SHEET,
        layout=layout_of(made, one_per_node=False),
        options={"qos": "high", "mail-type": "END", "requeue": True},
    )
    first, second = "\n".join(batch_lines(sheet)).split("\nhetjob\n")
    assert first.count("--qos=high") == second.count("--qos=high") == 1
    assert "--mail-type=END" in first
    assert "--mail-type=END" not in second
    assert "--requeue" not in second


def test_a_shell_understands_the_script() -> None:
    sheet = replace(SHEET, env={"GREETING": "it's\n$HOME `date`"})
    body = text(sheet).replace("exec python3", 'printf "%s\\n" "$GREETING"')
    ran = subprocess.run(["bash", "-eu", "-c", body], capture_output=True, text=True, check=True)
    said = ran.stdout.splitlines()
    assert said[:2] == ["it's", "$HOME `date`"]
    assert said[-8:] == [
        "srun", "--nodes=2", "--ntasks-per-node=1", "--ntasks=2", "--cpus-per-task=2",
        "--mem=1024M", "--exact", "--kill-on-bad-exit=0",
    ]  # fmt: skip


def test_a_role_has_an_array_whatever_its_name() -> None:
    assert array_name("dataset-initializer") == "step_dataset_initializer"


def test_an_elastic_job_begins_with_fewer_nodes_and_does_not_end_with_one() -> None:
    lines = batch_lines(replace(SHEET, least=1))
    assert {"--no-kill", "--nodes=1-2"} <= set(lines)
    assert not any(line.startswith("--ntasks") for line in lines)
    assert "--no-kill" not in batch_lines(SHEET)
    assert "--nodes=2" in batch_lines(replace(SHEET, least=1, options={"nodes": "2"}))


def test_an_elastic_job_asks_for_one_node_more_with_its_own_options() -> None:
    options = {"partition": "gpu", "mail-type": "END", "exclude": "bad"}
    sheet = replace(SHEET, least=1, options=options, deadline=60, nice=5)
    assert annex_options(sheet) == [
        "--job-name=demo",
        "--comment=trainway-annex:abc",
        "--output=slurm-%j.out",
        "--no-requeue",
        "--nodes=1",
        "--ntasks-per-node=1",
        "--ntasks=1",
        "--cpus-per-task=2",
        "--mem=1024M",
        "--time=00:03:00",
        "--nice=5",
        "--partition=gpu",
        "--exclude=bad",
    ]


@pytest.mark.parametrize(
    "fixed",
    [
        {"least": 0},
        {"least": 1, "options": {"nodes": "2"}},
        {"least": 1, "options": {"nodelist": "a,b"}},
        {"least": 1, "scratch": "/tmp"},
    ],
)
def test_what_cannot_grow_asks_for_nothing(fixed: dict[str, Any]) -> None:
    assert annex_options(replace(SHEET, **fixed)) == []
