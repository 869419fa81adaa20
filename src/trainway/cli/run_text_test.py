"""The table of a run: what its jobs reported last."""

from trainway.cli.run_text import reported


def test_numbers_are_short_enough_to_compare() -> None:
    metrics = [
        {"name": "loss", "value": "0.05502322005640721"},
        {"name": "step", "value": "29"},
        {"name": "stage", "value": "warm-up"},
        {"name": "grad", "value": "nan"},
    ]
    assert reported({"status": {"progress": {"metrics": metrics}}}) == {
        "loss": "0.05502",
        "step": "29",
        "stage": "warm-up",
        "grad": "nan",
    }
