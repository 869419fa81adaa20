import pytest

from trainway.cli.usage_text import node_usage, size, usage_line
from trainway.json_types import Json

GPU = {"utilization": 97.4, "memory": 40 * 2**30, "memoryTotal": 80 * 2**30}
USED: Json = {"cpu": 195.6, "memory": 3 * 2**29, "peakMemory": 2**31, "gpus": {"0": GPU, "1": {}}}


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (2048, "2 KiB"), (3 * 2**19, "1.5 MiB"), (2**60, "1024 PiB")],
)
def test_sizes(number: int, text: str) -> None:
    assert size(number) == text


def test_a_node_that_runs() -> None:
    assert node_usage({"phase": "Running", "usage": USED}) == {
        "CPU": "196 %",
        "MEMORY": "1.5 GiB",
        "PEAK": "2.0 GiB",
        "GPU": "97 %, ?",
        "GPU-MEMORY": "40.0 GiB of 80.0 GiB, ?",
    }
    assert usage_line({"phase": "Running", "usage": USED}).startswith("CPU 196 %, 1.5 GiB, GPU 97")


def test_of_a_node_that_ended_only_the_peak_is_shown() -> None:
    cells = node_usage({"phase": "Failed", "usage": USED})
    assert {name for name, text in cells.items() if text} == {"PEAK"}
    assert usage_line({"phase": "Failed", "usage": USED}) == ""
    assert not any(node_usage({"phase": "Running"}).values())
