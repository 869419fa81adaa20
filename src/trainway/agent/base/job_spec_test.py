"""What of a Job steers its pods."""

import pytest

from trainway.agent.base.job_spec import JobSpec
from trainway.agent.base.labels import MIN_NODES


@pytest.mark.parametrize(
    ("said", "minimum"),
    [("1", 1), ("2", 2), ("4", 4), ("5", None), ("0", None), ("-1", None), ("x", None), ("", None),
     ("²", None), ("9" * 5000, None)],
)  # fmt: skip
def test_only_a_number_of_its_nodes_makes_a_job_elastic(said: str, minimum: int | None) -> None:
    spec = {"completionMode": "Indexed", "completions": 4, "parallelism": 4}
    assert JobSpec(spec, {"annotations": {MIN_NODES: said}}).minimum == minimum
