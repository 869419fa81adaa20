"""A task with buckets, which ends alike wherever it runs: what is copied, mounted and written."""

from pathlib import Path
from typing import Final

from s3_server import S3Server

SIZE: Final = 3_000_000
"""Bytes that are written at the very end, so that the task must wait for them."""

_TASK: Final = """\
name: stored
num_nodes: {nodes}
workdir: {workdir}
file_mounts:
  {place}/folder: s3://{bucket}/data
  {place}/file.txt: s3://{bucket}/data/one.txt
  {place}/mounted: {{source: "s3://{bucket}/data"}}
  ~/trainway-{bucket}: {{name: {bucket}-new, source: {source}, mode: MOUNT_CACHED}}
run: |
  cat {place}/folder/deep/two.txt {place}/file.txt {place}/mounted/one.txt
  cat ~/trainway-{bucket}/three.txt here.txt
  echo hello > {place}/mounted/from-$SKYPILOT_NODE_RANK
  head -c {size} /dev/zero > ~/trainway-{bucket}/zeros-$SKYPILOT_NODE_RANK
  env | grep -c RCLONE_CONFIG || true
"""


def stored_task(server: S3Server, bucket: str, folder: Path, place: str, nodes: int = 1) -> str:
    """The file of the task, with its bucket and its local source."""
    data = server.bucket(bucket) / "data"
    (data / "deep").mkdir(parents=True)
    (data / "one.txt").write_text("one\n")
    (data / "deep" / "two.txt").write_text("two\n")
    source, workdir = folder / "source", folder / "workdir"
    for path, text in ((source / "three.txt", "three\n"), (workdir / "here.txt", "here\n")):
        path.parent.mkdir()
        path.write_text(text)
    file = folder / "stored.yaml"
    said = {"nodes": nodes, "place": place, "bucket": bucket, "source": source, "size": SIZE}
    file.write_text(_TASK.format(workdir=workdir, **said))
    return str(file)


def check_stored(server: S3Server, bucket: str, printed: str, nodes: int = 1) -> None:
    """What the nodes saw, and what the buckets have when the job has ended."""
    for rank in range(nodes):
        lines = [
            line.partition(" | ")[2]
            for line in printed.splitlines()
            if line.startswith(f"node-{rank}/task | ") and "storage:" not in line
        ]
        assert lines == ["two", "one", "one", "three", "here", "0"], printed
        found = server.folder / bucket / "data" / f"from-{rank}"
        assert found.read_text() == "hello\n"
        assert (server.folder / f"{bucket}-new" / f"zeros-{rank}").stat().st_size == SIZE
    assert (server.folder / f"{bucket}-new" / "three.txt").read_text() == "three\n"
