from dataclasses import dataclass

import pytest

from trainway.agent.slurm.relay.queue_states import (
    SEPARATOR,
    QueueState,
    owners,
    parse,
    positions,
    query,
)


def line(job: str, *fields: str) -> str:
    return SEPARATOR.join((job, "1", *fields)) + "\n"


PENDING = line("12", "PENDING", "Resources", "main", "100", "", "trainway:a1")
RUNNING = line("13", "RUNNING", "None", "main", "99", "n[0-1]", "trainway:b2 words of the user")


def test_one_question_is_about_all_jobs_of_a_user() -> None:
    words = query("me")
    assert words[0] == "squeue"
    assert {"--states=all", "--array", "--user=me"} <= set(words)


def test_jobs_are_found_with_their_states() -> None:
    states = parse(PENDING + RUNNING)
    waiting, running = states["12"], states["13"]
    assert (waiting.state, waiting.reason, waiting.partition) == ("PENDING", "Resources", "main")
    assert waiting.is_waiting
    assert (running.reason, running.nodes, running.owner) == ("", "n[0-1]", "b2")
    assert not running.is_waiting


def test_a_comment_may_have_anything_in_it() -> None:
    text = line("12", "PENDING", "Priority", "main", "1", "", f"trainway:a {SEPARATOR} | \t")
    assert parse(text)["12"].owner == "a"


def test_lines_that_are_no_jobs_are_left_out() -> None:
    assert parse("slurm_load_jobs error: something\n\n" + line("x", *"abcdef")) == {}


@dataclass(frozen=True)
class Components:
    states: tuple[str, ...]
    state: str


@pytest.mark.parametrize(
    "case",
    [
        Components(("PENDING", "PENDING"), "PENDING"),
        Components(("RUNNING", "COMPLETED"), "RUNNING"),
        Components(("COMPLETED", "COMPLETING"), "COMPLETING"),
        Components(("COMPLETED", "FAILED"), "COMPLETED"),
        Components(("FAILED", "CANCELLED"), "FAILED"),
    ],
)
def test_a_job_of_components_is_one_job(case: Components) -> None:
    lines = [
        line(f"9+{number}", state, "", "main", "1", "", "trainway:het")
        for number, state in enumerate(case.states)
    ]
    for text in ("".join(lines), "".join(reversed(lines))):
        assert {job: state.state for job, state in parse(text).items()} == {"9": case.state}


def test_tasks_of_an_array_are_jobs_of_their_own() -> None:
    text = line("7_0", "RUNNING", "", "main", "1", "n0", "") + line(
        "7_12", "PENDING", "Priority", "main", "1", "", ""
    )
    assert sorted(parse(text)) == ["7_0", "7_12"]


def test_the_jobs_of_an_array_share_a_comment_and_have_their_rank() -> None:
    text = line("7_0", "RUNNING", "", "main", "1", "n0", "trainway:x words") + line(
        "7_12", "PENDING", "Priority", "main", "1", "", "trainway:x words"
    )
    assert owners(parse(text + PENDING)) == {"x_0": "7_0", "x_12": "7_12", "a1": "12"}


@dataclass(frozen=True)
class Held:
    state: str
    reason: str
    is_held: bool


@pytest.mark.parametrize(
    "case",
    [
        Held("PENDING", "JobHeldUser", is_held=True),
        Held("PENDING", "job_requeued_in_held_state", is_held=True),
        Held("PENDING", "job requeued in held state", is_held=True),
        Held("PENDING", "JobHeldAdmin", is_held=False),
        Held("RUNNING", "JobHeldUser", is_held=False),
    ],
)
def test_what_counts_as_held(case: Held) -> None:
    assert QueueState("1", case.state, reason=case.reason).is_held is case.is_held


def test_of_two_jobs_with_one_id_the_one_that_lives_counts() -> None:
    text = line("5", "RUNNING", "", "p", "1", "", "trainway:x") + line(
        "9", "CANCELLED", "", "p", "1", "", "trainway:x"
    )
    assert owners(parse(text + PENDING)) == {"x": "5", "a1": "12"}


def test_positions_follow_priority_then_age_and_leave_out_what_is_held() -> None:
    states = [
        QueueState("10", "PENDING", priority=5),
        QueueState("9", "PENDING", priority=5),
        QueueState("11", "PENDING", priority=7),
        QueueState("12", "PENDING", priority=9, reason="JobHeldUser"),
        QueueState("13", "RUNNING", priority=9),
    ]
    assert positions(states) == {"11": 1, "9": 2, "10": 3}
