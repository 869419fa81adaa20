"""Parameters in a job: placeholders, words, variables and the annotation."""

import json
from typing import Any

from trainway.jobset.labels import PARAMETERS
from trainway.sweep.placeholders import assigned, parameters_of, variables, words


def job(**spec: Any) -> dict[str, Any]:
    return {"kind": "TrainJob", "metadata": {"name": "t", "labels": {"a": "lr-{lr}"}}, "spec": spec}


def test_placeholders_are_replaced_and_nothing_else() -> None:
    trainer = {
        "numNodes": "{n}",
        "args": ["--lr={lr}", "${lr}", "{{lr}}", "{other}", "{x}"],
        "env": [{"name": "N", "value": "{n}"}],
    }
    made = assigned(job(trainer=trainer), {"lr": "0.10", "n": "2", "x": "$(HOME)"}, replace=True)
    assert made["spec"]["trainer"] == {
        "numNodes": 2,
        "args": ["--lr=0.10", "${lr}", "{{lr}}", "{other}", "$$(HOME)"],
        "env": [{"name": "N", "value": "2"}],
    }
    assert made["metadata"]["labels"] == {"a": "lr-0.10"}
    assert parameters_of(made) == {"lr": "0.10", "n": "2", "x": "$(HOME)"}


def test_a_value_that_is_a_placeholder_is_not_replaced_again() -> None:
    made = assigned(job(args=["{a}{b}"]), {"a": "{b}", "b": "1"}, replace=True)
    assert made["spec"]["args"] == ["{b}1"]


def test_a_function_keeps_its_text() -> None:
    given = job(trainer={"args": ["print(f'{lr}')"]})
    made = assigned(given, {"lr": "1"}, replace=False)
    assert made["spec"] == given["spec"]
    assert parameters_of(made) == {"lr": "1"}


def test_words_get_options_for_what_they_do_not_mention() -> None:
    assert words(["lr", "wd"], ["--rate={lr}"]) == ["--rate={lr}", "--wd", "{wd}"]
    assert words(["lr"], ["${lr}"]) == ["${lr}", "--lr", "{lr}"]


def test_the_environment_has_all_of_them() -> None:
    told = variables({"weight-decay": "0.10"})
    assert told["TRAINWAY_PARAM_WEIGHT_DECAY"] == "0.10"
    assert json.loads(told["TRAINWAY_PARAMETERS"]) == {"weight-decay": "0.10"}


def test_what_is_no_annotation_of_ours_has_no_parameters() -> None:
    for text in ("[1]", "{", 3):
        assert parameters_of({"metadata": {"annotations": {PARAMETERS: text}}}) == {}
    assert parameters_of({"metadata": {"annotations": {PARAMETERS: '{"a": 1, "b": "2"}'}}}) == {
        "b": "2"
    }
    assert parameters_of(None) == {}
