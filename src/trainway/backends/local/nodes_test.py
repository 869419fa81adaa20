import asyncio
import sys

from trainway.agent.kubelet.usage.gpu_monitor import Gpu as MeasuredGpu
from trainway.backends.base import Capacity
from trainway.backends.local.nodes import machine_node, read
from trainway.backends.nodes import Gpu, Node
from trainway.jobset.quantity import Quantity

Q = Quantity.parse
LINE = "1, GPU-5d, 87, 1024, 81559, 512.3, 61, 4711"


def test_the_machine_is_a_node_with_its_gpus() -> None:
    measured = MeasuredGpu("1", "GPU-5d", {"utilization": 87.0, "memory": 1024.0}, set())
    node = machine_node("box", Capacity(Q(8), Q("16Gi"), ("0", "1")), {"1": measured})
    assert node == Node(
        "box", "up", "", "", Q(8), Q(8), Q("16Gi"), Q("16Gi"), 2, 2,
        (Gpu("0"), Gpu("1", None, 87.0, 1024)),
    )  # fmt: skip


def test_a_program_says_what_the_gpus_do() -> None:
    argv = [sys.executable, "-c", f"print('greetings'); print({LINE!r})"]
    found = asyncio.run(read(argv, 60))
    assert list(found) == ["1"]
    assert found["1"].figures["utilization"] == 87
    assert found["1"].figures["memoryTotal"] == 81559 * 2**20


def test_a_driver_that_does_not_answer_is_not_waited_for() -> None:
    argv = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert asyncio.run(read(argv, 0.05)) == {}
    assert asyncio.run(read(["/no/such/program"], 60)) == {}
