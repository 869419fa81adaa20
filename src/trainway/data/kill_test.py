"""A copy from the hub that is killed again and again; test/e2e/data_s3_test.py does it with S3."""

import os
import random
import subprocess
import sys
from pathlib import Path

from trainway.data.hub_testing import NAME, PretendedHub, served
from trainway.data.journal import journal_path

PART = 1000
KILLS = 12
FILES = {name: random.Random(name).randbytes(60 * PART + 7) for name in ("a", "d/b")}  # noqa: S311 - content
COPY = f"""
import sys
from trainway.data.copying import copy
from trainway.data.transfer import Options
copy(sys.argv[1], sys.argv[2], options=Options(workers=2, part_size={PART}))
"""


def recorded(target: Path) -> set[tuple[str, str]]:
    """The parts that journals say are here, as they would be asked for."""
    found = set()
    for name, content in FILES.items():
        journal = journal_path(target / name)
        for line in journal.read_text().split("\n")[1:-1] if journal.exists() else ():
            start = int(line.split()[0]) * PART
            found.add((name, f"bytes={start}-{min(start + PART, len(content)) - 1}"))
    return found


def test_a_copy_that_is_killed_fetches_only_what_is_missing(tmp_path: Path) -> None:
    target, chance = tmp_path / "model", random.Random(1)  # noqa: S311 - moments of kills
    with served(PretendedHub(FILES)) as hub:
        variables = {**os.environ, "HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path)}
        command = [sys.executable, "-c", COPY, f"hf://{NAME}", str(target)]
        codes = []
        for number in range(KILLS + 1):
            here, limit = recorded(target), chance.randrange(1, 20)
            whole = {name for name in FILES if (target / name).exists()}
            hub.ranges.clear()
            with subprocess.Popen(command, env=variables) as process:

                def kill(
                    _path: str,
                    limit: int = limit if number < KILLS else 10**9,
                    process: subprocess.Popen[bytes] = process,
                ) -> None:
                    if len(hub.ranges) >= limit:
                        process.kill()

                hub.before_bytes = kill
            codes.append(process.returncode)
            assert here.isdisjoint(hub.ranges)
            assert whole.isdisjoint(name for name, _ in hub.ranges)

    assert {name: (target / name).read_bytes() for name in FILES} == FILES
    assert sum(path.is_file() for path in target.rglob("*")) == len(FILES)
    assert codes[-1] == 0
    assert sum(code != 0 for code in codes) >= KILLS // 2
