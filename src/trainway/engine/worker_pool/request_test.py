"""What is wrong with requests for worker pools."""

from dataclasses import replace
from typing import Any

import pytest

from trainway.engine.worker_pool.request import check_task, checked_name
from trainway.engine.worker_pool.testing import new_pool
from trainway.errors import UsageError


@pytest.mark.parametrize("spec", [None, 5, {}, {"tasks": [5]}, {"tasks": [{"task": 5}]}])
def test_an_object_without_a_task_is_refused(spec: Any) -> None:
    wanted = new_pool().submission
    with pytest.raises(UsageError, match="the task has no"):
        check_task(replace(wanted, objects=[{**wanted.objects[0], "spec": spec}]))


@pytest.mark.parametrize("name", ["a" * 51, "-x", "../x", "", "é"])
def test_a_name_that_no_pool_may_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="a worker pool cannot be called") as refused:
        checked_name(name)
    assert str(refused.value.hint).endswith("at most 50 characters")
