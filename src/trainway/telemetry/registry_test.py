import math
import os
import shutil
import subprocess

import pytest
from prometheus_client.parser import text_string_to_metric_families

from trainway.telemetry.metric import Metric, Sample, Type, counter, gauge, histogram
from trainway.telemetry.process import PROCESS_METRICS, process_registry
from trainway.telemetry.registry import MOST_SERIES, Registry

HITS = counter("hits_total", "Hits, by who", "who")
DEPTH = gauge("depth", "Depth now")
WAIT = histogram("wait_seconds", "Waiting", "who", buckets=(0.5, 1))


def used() -> Registry:
    registry = Registry((HITS, DEPTH, WAIT))
    registry.add(HITS, "a")
    registry.add(HITS, "a", amount=2)
    for seconds in (0.1, 0.5, 0.7, 3):
        registry.observe(WAIT, "b", value=seconds)
    return registry


def test_the_page() -> None:
    assert used().page() == (
        "# HELP hits_total Hits, by who\n"
        "# TYPE hits_total counter\n"
        'hits_total{who="a"} 3.0\n'
        "# HELP depth Depth now\n"
        "# TYPE depth gauge\n"
        "depth 0.0\n"
        "# HELP wait_seconds Waiting\n"
        "# TYPE wait_seconds histogram\n"
        'wait_seconds_bucket{le="0.5",who="b"} 2.0\n'
        'wait_seconds_bucket{le="1.0",who="b"} 3.0\n'
        'wait_seconds_bucket{le="+Inf",who="b"} 4.0\n'
        'wait_seconds_sum{who="b"} 4.3\n'
        'wait_seconds_count{who="b"} 4.0\n'
    )


def test_what_is_looked_up_when_the_page_is_read() -> None:
    registry, depths = used(), [7.0]
    registry.collect(lambda: [Sample(DEPTH, (), depths[-1])])
    assert registry.value(DEPTH) == 7
    depths.append(math.inf)
    assert "depth +Inf\n" in registry.page()
    assert "depth 0.0\n" not in registry.page()


def test_a_series_that_is_removed_is_not_shown() -> None:
    registry = used()
    registry.remove(HITS, "a")
    registry.remove(HITS, "a")
    assert "hits_total" not in registry.page()


@pytest.mark.parametrize("name", ['"', "\\", "\n", '\\"\n{a="b"} 1', "ü 火", "\ud800", ""])
def test_any_text_can_be_the_value_of_a_label(name: str) -> None:
    registry = Registry((HITS,))
    registry.add(HITS, name)
    text = registry.page().encode().decode()
    [family] = text_string_to_metric_families(text)
    [sample] = family.samples
    assert sample.value == 1
    assert sample.labels["who"] == name.encode(errors="backslashreplace").decode()


def test_the_number_of_series_is_bounded() -> None:
    registry = used()
    for number in range(2 * MOST_SERIES):
        registry.add(HITS, f"user-{number}")
        registry.observe(WAIT, f"user-{number}", value=1)
    assert registry.value(HITS, "a") == 3
    assert registry.value(HITS, "other") == MOST_SERIES + 1
    registry.add(HITS, "a")
    assert registry.value(HITS, "a") == 4
    assert registry.page().count("hits_total{") == MOST_SERIES + 1
    assert registry.value(WAIT, "other") == MOST_SERIES + 1


def test_only_histograms_have_buckets() -> None:
    with pytest.raises(ValueError, match="depth: histograms"):
        Metric("depth", Type.GAUGE, "Depth", buckets=(1,))


def test_a_process_tells_of_itself() -> None:
    registry = process_registry("test")
    families = {item.name: item for item in text_string_to_metric_families(registry.page())}
    assert {metric.name.removesuffix("_total") for metric in PROCESS_METRICS} == families.keys()
    values = {name: family.samples[0].value for name, family in families.items()}
    assert values["process_cpu_seconds"] > 0
    assert 1 << 20 < values["process_resident_memory_bytes"] < 1 << 40
    assert 3 <= values["process_open_fds"] <= values["process_max_fds"]
    assert families["trainway_build_info"].samples[0].labels["component"] == "test"


@pytest.mark.skipif(
    shutil.which("promtool") is None and os.environ.get("CI") != "true",
    reason="there is no promtool",
)
def test_promtool_finds_nothing_wrong() -> None:
    page = used().page() + process_registry("test").page()
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=page, text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
