"""The output of jobs in a real S3, when they have succeeded."""

from pathlib import Path

import pytest
from installation import installed
from patience import until
from s3_server import S3Server
from small_disk import filled, small_disk

pytestmark = pytest.mark.xdist_group("s3")

WRITES = 'mkdir $TRAINWAY_OUTPUT_DIR/d; echo done > "$TRAINWAY_OUTPUT_DIR/d/a"; exit $CODE'


def test_an_output_goes_into_a_bucket_unless_the_job_fails(
    s3_server: S3Server, tmp_path: Path
) -> None:
    bucket = s3_server.bucket("exports")
    with installed(tmp_path, s3_server.variables()) as home:
        for code, name in ((0, "good"), (4, "bad")):
            words = ("--name", name, "--env", f"CODE={code}", "--export", f"s3://exports/{name}")
            home.run("run", *words, "--", "sh", "-c", WRITES, code=code)
        assert (bucket / "good" / "d" / "a").read_text() == "done\n"
        assert not (bucket / "bad").exists()
        shown = home.json("jobs", "show", "good")["status"]["export"]
        assert (shown["state"], shown["files"]) == ("Done", 1)
        assert home.json("jobs", "show", "bad")["status"]["export"]["state"] == "Skipped"

        refused = ("--name", "lost", "--env", "CODE=0", "--export", "s3://nowhere/run")
        home.run("run", *refused, "--", "sh", "-c", WRITES, code=1)
        status = home.json("jobs", "show", "lost")["status"]
        assert (status["phase"], status["export"]["state"]) == ("Succeeded", "Failed")
        assert "nowhere" in status["export"]["message"]
        home.run("run", "--export", "/tmp/x", "--", "true", code=2)


def test_a_bucket_on_a_full_disk_is_tried_again_and_nothing_is_lost(
    s3_server: S3Server, tmp_path: Path
) -> None:
    bucket = s3_server.folder / "full"
    writes = 'head -c 200000 /dev/urandom > "$TRAINWAY_OUTPUT_DIR/a"'
    with installed(tmp_path / "home", s3_server.variables()) as home, small_disk(bucket):
        with filled(bucket):
            job = home.submit("--export", "s3://full/run", "--", "sh", "-c", writes)
            until(lambda: home.look(job)["status"]["export"].get("message"), "it says nothing")
            status = home.look(job)["status"]
            assert status["phase"] == "Succeeded"
            assert "s3://full has no room left" in status["export"]["message"]
        until(
            lambda: home.look(job)["status"]["export"]["state"] in ("Done", "Failed"),
            "it is not tried again",
        )
        assert home.look(job)["status"]["export"]["state"] == "Done"
        kept = home.home / "jobs" / job / "output" / "a"
        assert (bucket / "run" / "a").read_bytes() == kept.read_bytes()
