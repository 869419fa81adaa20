from dataclasses import dataclass

import pytest

from trainway.engine.job_filter import MetricTerm, label_terms, metric_terms
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
