"""Jobs that hang: their stacks are taken, and their restarts decide what follows."""

import sys
from collections.abc import Iterator

import pytest
from installation import Installation, installed
from patience import until
from webhook import Webhook, webhook

# The time of a job counts from its last line, and it writes one where it hangs.
STUCK_ONCE = """
import os, socket, time


def stuck():
    print("stuck", flush=True)
    time.sleep(3600)


def wait_for_others(server):
    print("waiting", flush=True)
    server.accept()


if os.environ["TRAINWAY_RESTART_ATTEMPT"] != "0":
    raise SystemExit(0)
if os.environ["TRAINWAY_RANK"] == "1":
    stuck()
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
wait_for_others(server)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("home")) as installation:
        yield installation


def test_a_job_that_hangs_is_restarted_and_its_stacks_are_kept(home: Installation) -> None:
    words = ("--nodes", "2", "--restarts", "1", "--hang-timeout", "8s", "--name", "once")
    with webhook() as url:
        job = home.submit(*words, "--notify", url, "--", sys.executable, "-c", STUCK_ONCE)
        home.run("jobs", "wait", job)
        until(lambda: "succeeded" in told(), "not everything was delivered")

    assert home.job(job)["status"]["restarts"] == 1
    stacks = home.run("jobs", "stacks", job, "--attempt", "1")
    assert "taken because the job hung" in stacks
    assert "wait_for_others (" in stacks
    events = home.run("jobs", "events", job)
    assert "TrainingHang" in events
    assert "node-1 hangs: no report and no line of a log for " in events
    hung = told()["hung"]
    start = "once hung on local and was restarted: node-1, silent since "
    assert str(hung["text"]).startswith(start)
    assert "it is in stuck (<string>:" in str(hung["text"])


def told() -> dict[str, dict[str, object]]:
    """What the webhook was told of each event."""
    return {str(each["event"]): each for each in Webhook.got}


def test_what_failed_says_who_hung_and_where(home: Installation) -> None:
    program = "import time\ndef stuck():\n print('stuck', flush=True)\n time.sleep(3600)\nstuck()"
    job = home.submit("--hang-timeout", "8s", "--name", "bad", "--", sys.executable, "-c", program)
    home.run("jobs", "wait", job, code=4)

    summary = home.job(job)["status"]["failure"]["summary"]
    assert summary.startswith("node-0 hung: no report and no line of a log for ")
    assert "; it is in stuck (<string>:4); trainway jobs stacks bad --attempt 1 shows" in summary
