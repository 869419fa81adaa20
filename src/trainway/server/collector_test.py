import subprocess
import sys

_LOOKS_AT_ALL = """
import gc
from trainway.server import collector

gc.disable()
collector.settle()
kept = [(object(), number) for number in range(150_000)]
print(gc.isenabled(), gc.get_freeze_count() > 0, gc.get_stats()[2]["collections"])
"""


def test_all_objects_are_not_looked_at_for_one_decision() -> None:
    ran = subprocess.run([sys.executable, "-c", _LOOKS_AT_ALL], capture_output=True, check=True)
    assert ran.stdout.split() == [b"True", b"True", b"0"]
