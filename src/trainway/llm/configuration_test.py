from dataclasses import dataclass
from typing import Any

import pytest

from trainway.errors import UsageError
from trainway.llm.configuration import configured

PLACES = ("model=/m", "dataset=/d")


def test_words_win_over_the_file() -> None:
    given = {"method": "full", "epochs": 2, "columns": {"prompt": "q"}}
    words = [*PLACES, "method=qlora", "columns.completion=a", "learning_rate=1e-5", "packing=false"]
    found = configured(given, words, "f.yaml")
    assert (found.method, found.epochs, found.learning_rate) == ("qlora", 2.0, 1e-5)
    assert found.columns == {"prompt": "q", "completion": "a"}
    assert found.packing is False
    assert found.micro_batch is None


@pytest.mark.parametrize("text", ["007", "2024_01", "1e3", "true", "nan"])
def test_names_that_look_like_numbers_stay_as_they_are(text: str) -> None:
    found = configured({}, [f"model={text}", f"dataset={text}", f"split={text}"], "")
    assert (found.model, found.dataset, found.split) == (text, text, text)
    assert configured({}, [*PLACES, "chat_template=null", "output="], "").chat_template is None


@dataclass(frozen=True)
class Case:
    id: str
    given: dict[str, Any]
    words: tuple[str, ...]
    said: str
    hint: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case("no model", {"dataset": "/d"}, (), "model: it is missing", "add model=PATH"),
        Case("no data", {"model": "/m"}, (), "dataset: it is missing"),
        Case("a slip", {}, (*PLACES, "metod=lora"), "f: metod: there is no such setting",
             "did you mean method?"),
        Case("as others call it", {}, (*PLACES, "lr=1e-4"), "f: lr: there is no such setting",
             "did you mean learning_rate?"),
        Case("no seed", {}, (*PLACES, "seed=-1"), "seed: it is -1", "from 0 to 4294967295"),
        Case("no decay", {}, (*PLACES, "weight_decay=-1"), "weight_decay: it is -1", "0 or more"),
        Case("no word", {}, ("lora",), "'lora' is not a setting", "write NAME=VALUE"),
        Case("another method", {}, (*PLACES, "method=dora"), "method: it is 'dora'", "full, lora"),
        Case("no number", {}, (*PLACES, "epochs=many"), "epochs: it is 'many'", "a number"),
        Case("endless", {}, (*PLACES, "learning_rate=inf"), "learning_rate: it is inf"),
        Case("half a step", {}, (*PLACES, "max_steps=1.5"), "max_steps: it is 1.5", "whole"),
        Case("none at once", {}, (*PLACES, "batch_size=0"), "batch_size: it is 0", "more than 0"),
        Case("a flag", {}, (*PLACES, "merge=2"), "merge: it is 2", "true or false"),
        Case("too much", {}, (*PLACES, "warmup=1"), "warmup: it is 1", "less than 1"),
        Case("a list of columns", {"columns": ["a"]}, PLACES, "columns: it is ['a']"),
        Case("a table", {"model": {"a": 1}}, (), "model: it is {'a': 1}", "a text"),
        Case("no name", {1: 2}, PLACES, "f: 1: there is no such setting", "there are model"),  # type: ignore[dict-item]
        Case("a slip of zeros", {}, (*PLACES, "batch_size=99999999999"), "batch_size: it is 1e+11",
             "at most 2147483648"),
        Case("memory", {}, (*PLACES, "memory_gib=1e308"), "memory_gib: it is 1e+308", "at most"),
        Case("another group", {}, (*PLACES, "lora.rank=8"), "lora.rank: there is no such setting"),
    ],
    ids=lambda case: case.id,
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(case: Case) -> None:
    with pytest.raises(UsageError) as raised:
        configured(case.given, case.words, "f")
    assert raised.value.message.startswith(case.said)
    assert case.hint in (raised.value.hint or "")
