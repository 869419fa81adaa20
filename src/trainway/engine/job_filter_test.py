from dataclasses import dataclass, replace

import pytest

from trainway.engine.job_filter import (
    EVERY_JOB,
    Filter,
    LabelTerm,
    MetricTerm,
    label_terms,
    metric_terms,
)
from trainway.errors import UsageError


@dataclass(frozen=True)
class Case:
    text: str
    term: MetricTerm | None


CASES = [
    Case("loss<0.3", MetricTerm("loss", "<", 0.3)),
    Case(" eval/loss <= 1e-3 ", MetricTerm("eval/loss", "<=", 0.001)),
    Case("step=-5", MetricTerm("step", "=", -5.0)),
    Case("accuracy != 1", MetricTerm("accuracy", "!=", 1.0)),
    Case("loss", None),
    Case("<0.3", None),
    Case("loss<", None),
    Case("loss<small", None),
    Case("loss<nan", None),
    Case("loss<<3", None),
    Case("", None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_conditions_on_metrics(case: Case) -> None:
    if case.term is not None:
        assert metric_terms([case.text]) == [case.term]
        return
    with pytest.raises(UsageError, match="not a condition on a metric") as refused:
        metric_terms([case.text])
    assert refused.value.field == "metric"


@pytest.mark.parametrize("text", ["", "=nlp", "te am", "team=n l p", 'team="nlp"'])
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="not a label") as refused:
        label_terms([text])
    assert refused.value.field == "label"


def test_a_filter_that_asks_for_nothing_more_is_known_however_nothing_is_written() -> None:
    wanted = Filter(phases=set(), labels=[LabelTerm("team")], metrics=[], after="a", before="b")
    assert wanted.asks_only("labels")
    assert not wanted.asks_only("metrics")
    assert not replace(wanted, kind="MPIJob").asks_only("labels")
    assert EVERY_JOB.asks_only()
