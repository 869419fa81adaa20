import yaml

from trainway.llm.configuration import Task, configured
from trainway.llm.model_card import Outcome, card

OUTCOME = Outcome(12, 0.25, 4096, 3.5, {"trl": "1.16.0"})


def test_a_card_says_where_the_model_comes_from() -> None:
    words = ["model=org/base", "dataset=org/data", "method=full", "epochs=3"]
    text = card(Task.SFT, configured({}, words, "words"), OUTCOME, kind="model")
    head = yaml.safe_load(text.split("---")[1])
    assert head["base_model"] == "org/base"
    assert head["datasets"] == ["org/data"]
    assert head["library_name"] == "transformers"
    assert "| Last loss | 0.2500 |" in text
    assert "| `epochs` | 3.0 |" in text


def test_places_of_the_machine_are_not_told() -> None:
    words = ["model=/home/ann/base", "dataset=/secret/data", "output=/home/ann/out"]
    text = card(Task.DPO, configured({}, words, "words"), OUTCOME, kind="adapter")
    assert "base_model" not in text
    assert "/home" not in text
    assert "/secret" not in text
    assert "# base, tuned on data" in text
