"""The output of jobs in a real S3, when they have succeeded."""

from pathlib import Path

import pytest
from installation import installed
from s3_server import S3Server

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
