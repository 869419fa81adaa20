import os
from pathlib import Path

import pytest

from trainway.agent.kubelet.memory_limit import figures, outer_limit

MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("own", "files", "limit"),
    [
        ("0::/job/step\n", {"job/memory.max": "1048576\n", "job/step/memory.max": "max\n"}, 2**20),
        ("0::/job\n", {"job/memory.max": "max\n"}, MACHINE),
        ("4:memory:/job\n0::/\n", {"memory/job/memory.limit_in_bytes": "4096\n"}, 4096),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": f"{2**63 - 4096}\n"}, MACHINE),
        ("3:cpu:/job\n", {"memory/job/memory.limit_in_bytes": "4096\n"}, MACHINE),
        ("", {}, MACHINE),
    ],
)
def test_the_lowest_limit_of_all_groups_counts(
    tmp_path: Path, own: str, files: dict[str, str], limit: int
) -> None:
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert outer_limit(str(tmp_path / "own"), str(tmp_path)) == limit


def test_what_is_not_known_is_not_said() -> None:
    assert figures(2**31, 2**31 + 2**30) == "its peak was 2.0 GiB and its limit is 3.0 GiB"
    assert figures(0, 500) == "its limit is 500 bytes"
    assert figures(0, 0) == ""
