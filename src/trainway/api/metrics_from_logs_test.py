import pytest

from trainway.api.metrics_from_logs import pattern_errors, pattern_of, with_metrics_from_logs


@pytest.mark.parametrize(
    "pattern", ["", "(?P<loss>.*)", "(?P<name>a)(?P<value>b)", "(?P<step>a)(?P<name>b)(?P<x>c)"]
)
def test_patterns(pattern: str) -> None:
    job = with_metrics_from_logs({"metadata": {"annotations": {"a": "b"}}}, pattern)
    assert job["metadata"]["annotations"]["a"] == "b"
    assert (pattern_of(job), pattern_errors(job)) == (pattern, [])


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("loss: (.*)", "must have a named group for each series"),
        ("(?P<step>.*)", "must have a named group for each series"),
        ("(?P<value>.*)", "must have a named group for each series"),
        ("(?P<loss>", "is not a regular expression of Python: missing )"),
        ("(?P<loss>a{99999999999999999999})", "is not a regular expression of Python"),
        ("(?P<loss>a)" + "(" * 495 + ")" * 495, "at most 1000 characters"),
    ],
)
def test_patterns_that_are_refused(pattern: str, said: str) -> None:
    (error,) = pattern_errors(with_metrics_from_logs({}, pattern))
    assert "metadata.annotations[trainway.dev/metrics-from-logs]" in str(error)
    assert said in str(error)


@pytest.mark.parametrize("job", [{}, {"metadata": None}, {"metadata": {"annotations": []}}, None])
def test_jobs_whose_lines_are_not_read(job: dict[str, object] | None) -> None:
    assert pattern_of(job) is None
