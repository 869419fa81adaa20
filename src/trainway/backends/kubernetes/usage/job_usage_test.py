"""What a job's journal gets of what its pods use."""

from trainway.backends.kubernetes.usage.job_usage import JobUsage
from trainway.backends.kubernetes.usage.readings import Reading

KEY = "node-0-0"


def test_records_have_averages_and_the_peak() -> None:
    usage = JobUsage()
    usage.note(KEY, "a", Reading(100, 50, "1"))
    first = {"cpu": 100.0, "memory": 50, "peakMemory": 50}
    assert usage.due(0, 1) == {"type": "usage", "pods": {KEY: first}}
    usage.note(KEY, "a", Reading(10, 30, "2"))
    assert usage.due(4, 1) is None
    usage.note(KEY, "a", Reading(30, 10, "3"))
    assert usage.due(5, 1) == {
        "type": "usage",
        "pods": {KEY: {"cpu": 20.0, "memory": 20, "peakMemory": 50}},
    }
    assert usage.due(100, 1) is None


def test_a_measurement_counts_once() -> None:
    usage = JobUsage()
    usage.note(KEY, "a", Reading(100, 50, "1"))
    usage.take([KEY])
    usage.note(KEY, "a", Reading(100, 50, "1"))
    assert usage.take([KEY, "node-0-1"]) is None


def test_a_large_or_old_job_is_written_less_often() -> None:
    for pods, age, least in ((100, 0, 50), (1, 40_000, 55)):
        usage = JobUsage()
        usage.note(KEY, "a", Reading(1, 1, "1"))
        assert usage.due(0, pods)
        usage.note(KEY, "a", Reading(1, 1, "2"))
        assert usage.due(age, pods) or not age
        usage.note(KEY, "a", Reading(1, 1, "3"))
        assert usage.due(age + least - 1, pods) is None
        assert usage.due(age + least + 1, pods)


def test_the_peak_is_that_of_the_pod_that_has_the_place() -> None:
    usage = JobUsage()
    usage.replay(KEY, "a", 70)
    usage.note(KEY, "a", Reading(1, 50, "1"))
    assert (usage.peak(KEY, "a"), usage.peak(KEY, "b")) == (70, 0)
    usage.note(KEY, "b", Reading(1, 20, "1"))
    assert (usage.peak(KEY, "a"), usage.peak(KEY, "b")) == (0, 20)
