"""A feed that is a few lines of shell."""

from __future__ import annotations

import json
import os
import time
from base64 import b64encode
from pathlib import Path

from trainway.agent.base.directory import Directory
from trainway.agent.base.event_loop import EventLoop
from trainway.agent.transfer.mirror import Mirror
from trainway.agent.transfer.node_link import NodeLink
from trainway.json_types import Json

LOG = "node-0-0.main.0.log"
PATIENCE = 60.0


def log(offset: int, text: str) -> Json:
    data = b64encode(text.encode()).decode()
    return {"event": "log", "file": LOG, "offset": offset, "data": data}


def test_what_follows_a_piece_that_is_not_kept_waits_for_the_next_link(tmp_path: Path) -> None:
    records: list[Json] = []
    ends: list[str] = []
    end = {"event": "record", "record": {"seq": 0, "type": "end"}}
    lines = [json.dumps(frame) for frame in (log(0, "one\n"), log(8, "three\n"), end)]
    script = "cat <<'END'\n{}\nEND\nexec sleep 1000".format("\n".join(lines))
    loop = EventLoop()
    link = NodeLink(
        "a",
        Mirror(Directory(str(tmp_path)), records.append),
        on_frame=lambda _link, _frame: None,
        on_end=lambda _link, errors: ends.append(errors),
    )
    link.start(loop, ["sh", "-c", script], os.environ, {"after": -1})
    give_up = time.monotonic() + PATIENCE
    while not ends and time.monotonic() < give_up:
        loop.turn()
    assert (ends, records, link.is_open) == ([""], [], False)
    assert (tmp_path / "logs" / LOG).read_text() == "one\n"
