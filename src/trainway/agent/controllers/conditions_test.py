from trainway.agent.controllers.conditions import condition, find, is_true, set_condition


def test_false_is_not_added_but_true_turns_false() -> None:
    conditions: list[dict[str, str]] = []
    assert not set_condition(conditions, condition("A", False, "R", "m", 0))
    assert conditions == []
    assert set_condition(conditions, condition("A", True, "R", "m", 0))
    assert is_true(conditions, "A")
    assert set_condition(conditions, condition("A", False, "Q", "n", 60))
    assert find(conditions, "A") == {
        "type": "A",
        "status": "False",
        "lastTransitionTime": "1970-01-01T00:01:00Z",
        "reason": "Q",
        "message": "n",
    }


def test_time_moves_only_with_the_status() -> None:
    conditions = [condition("A", True, "R", "m", 0)]
    assert not set_condition(conditions, condition("A", True, "R", "m", 60))
    assert set_condition(conditions, condition("A", True, "S", "m", 60))
    assert conditions == [condition("A", True, "S", "m", 0)]


def test_startup_conditions_exclude_each_other() -> None:
    conditions = [condition("StartupPolicyInProgress", True, "R", "m", 0)]
    assert set_condition(conditions, condition("StartupPolicyCompleted", True, "S", "n", 1))
    assert [c["status"] for c in conditions] == ["False", "True"]
    assert set_condition(conditions, condition("StartupPolicyInProgress", True, "R", "m", 2))
    assert [c["status"] for c in conditions] == ["True", "False"]
