"""What the page of a job reads: windows of logs, files of the output, and what was compiled."""

from urllib.parse import quote

from trainway.engine.testing import jobset
from trainway.server.testing import RunningServer

_PROGRAM = """
for n in $(seq 0 9); do echo "step $n of $JOB_COMPLETION_INDEX"; done
echo '<script>alert(1)</script>'
[ "$JOB_COMPLETION_INDEX" = 0 ] || exit 0
mkdir -p "$TRAINWAY_OUTPUT_DIR/checkpoints"
echo weights > "$TRAINWAY_OUTPUT_DIR/checkpoints/model.bin"
ln -sfn /etc "$TRAINWAY_OUTPUT_DIR/away"
"""


def test_the_page_of_a_job_reads_logs_files_and_what_was_compiled(server: RunningServer) -> None:
    server.submit(jobset("paged", _PROGRAM, pods=2))
    server.wait("paged")
    get = "/jobs/paged/logs"
    files = server.request("GET", f"{get}/files").body["items"]
    assert [(item["node"], item["attempt"]) for item in files] == [("node-0", 0), ("node-1", 0)]

    window = server.request("GET", f"{get}/window?rank=1&lines=4").body
    assert [line["text"] for line in window["lines"]] == [
        "step 7 of 1", "step 8 of 1", "step 9 of 1", "<script>alert(1)</script>",
    ]  # fmt: skip
    assert window["behind"] == window["size"] == files[1]["size"]
    before = server.request("GET", f"{get}/window?rank=1&lines=2&before={window['start']}").body
    assert [line["text"] for line in before["lines"]] == ["step 5 of 1", "step 6 of 1"]
    assert server.request("GET", f"{get}/window?after={window['end']}&rank=1").body["lines"] == []
    assert len(server.request("GET", f"{get}/window?at=0").body["lines"]) == 22

    found = server.request("GET", f"{get}/search?text=STEP%203").body
    assert [match["text"] for match in found["items"]] == ["step 3 of 0", "step 3 of 1"]
    around = f"{get}/window?lines=3&rank=1&around={quote(found['items'][1]['id'])}"
    assert [line["text"] for line in server.request("GET", around).body["lines"]] == [
        "step 2 of 1", "step 3 of 1", "step 4 of 1",
    ]  # fmt: skip
    text = server.download(f"{get}/download?rank=0").decode()
    assert [line.split(" ", 2)[1:] for line in text.splitlines()[:1]] == [["node-0", "step 0 of 0"]]
    for query, field in (
        ("around=x&at=1", "around"), ("around=x", "around"), ("at=2", "at"),
        ("after=x", "Last-Event-ID"), ("lines=0", "lines"), ("time=soon", "time"),
        ("rank=7", "rank"), ("nonsense=1", "nonsense"),
    ):  # fmt: skip
        assert server.error("GET", f"{get}/window?{query}")[1]["field"] == field

    listing = server.request("GET", "/jobs/paged/output").body
    assert {item["name"]: item["kind"] for item in listing["items"]} == {
        "checkpoints": "folder", "away": "other",
    }  # fmt: skip
    inner = server.request("GET", "/jobs/paged/output?path=checkpoints").body["items"]
    assert [(item["name"], item["size"]) for item in inner] == [("model.bin", 8)]
    path = "/jobs/paged/output/file?path="
    assert server.download(f"{path}checkpoints/model.bin") == b"weights\n"
    assert server.error("GET", f"{path}away/passwd")[0] == 404
    assert server.error("GET", f"{path}../plan.json")[1]["field"] == "path"

    (attempt,) = server.request("GET", "/jobs/paged/attempts").body["items"]
    assert (attempt["attempt"], attempt["isNewest"], attempt["cause"]) == (0, True, "")
    assert attempt["hasStacks"] is False
    compiled = server.request("GET", "/jobs/paged/compiled").body
    assert compiled["jobSet"]["spec"]["replicatedJobs"][0]["name"] == "node"
