"""Notifications as people use them: a real server, and a real webhook that fails at first."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from installation import Installation, installed
from patience import until
from webhook import Webhook, webhook


@pytest.fixture
def address() -> Iterator[str]:
    with webhook(refusals=1) as url:
        yield url


def test_a_job_that_fails_is_told_once_the_webhook_answers(address: str, tmp_path: Path) -> None:
    with installed(tmp_path / "home") as home:
        home.home.mkdir(mode=0o700, exist_ok=True)
        settings = f"notify: {{team: {{url: '{address}/team', events: [failed]}}}}\n"
        (home.home / "config.yaml").write_text(settings)
        own = ("--notify", f"{address}/own")
        home.run("run", "--name", "broken", *own, "--", "sh", "-c", "exit 7", code=4)
        until(lambda: len(Webhook.got) == 3, "not everything was delivered")
        check(home)


def check(home: Installation) -> None:
    told = sorted((str(each["path"]), str(each["event"])) for each in Webhook.got)
    assert told == [("/own", "failed"), ("/own", "started"), ("/team", "failed")]
    texts = {str(each["text"]) for each in Webhook.got}
    assert texts == {
        "broken started on local",
        "broken failed on local: node-0 exited with 7 (attempt 1 of 1)",
    }
    assert Webhook.refused != []
    shown = home.run("jobs", "show", "broken", "-o", "json") + home.run("jobs", "events", "broken")
    assert "/own" not in shown
    assert home.run("notify", "test") == "team: delivered\n"
    assert Webhook.got[-1]["event"] == "test"
    home.run("run", "--notify", "nobody", "--", "true", code=2)
