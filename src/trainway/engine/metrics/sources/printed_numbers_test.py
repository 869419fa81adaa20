import time
from dataclasses import dataclass

import pytest

from trainway.engine.metrics.sources.printed_numbers import printed_numbers


@dataclass(frozen=True)
class Case:
    line: str
    found: dict[str, float]

    def __str__(self) -> str:
        return self.line[:40]


CASES = [
    Case("loss: 0.31", {"loss": 0.31}),
    Case("loss=0.31.", {"loss": 0.31}),
    Case("step 12 | loss = -1.5e-3 | lr=1E-4", {"step": 12, "loss": -0.0015, "lr": 0.0001}),
    Case("Epoch [3/10], Step [20/100], Loss: 0.5", {"epoch": 3, "step": 20, "Loss": 0.5}),
    Case("Epoch 3/10 - loss: 1 - acc: 91%", {"epoch": 3, "loss": 1, "acc": 91}),
    Case("train loss: 2, val loss: 3", {"train_loss": 2, "val_loss": 3}),
    Case("{'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 0.1}",
         {"loss": 0.5, "learning_rate": 5e-05, "epoch": 0.1}),
    Case("[4]\ttrain-rmse:0.25\teval-rmse:0.50", {"step": 4, "train-rmse": 0.25, "eval-rmse": 0.5}),
    Case("iter: 7 loss: .5", {"step": 7, "loss": 0.5}),
    Case("epoch 3", {}),
    Case("at 12:30:45 from http://host:8080/x", {}),
    Case("addr: 127.0.0.1, took: 3.2s, id=0x1f, v: 1.2.3", {}),
    Case("loss: nan", {}),
    Case("", {}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_numbers_of_a_line(case: Case) -> None:
    assert printed_numbers(case.line) == case.found


@pytest.mark.parametrize("unit", ["1", "a", "a=", "a:1", " ", "=", "epoch[", "-", ".", "a =  "])
def test_no_line_takes_long(unit: str) -> None:
    line = "loss: " + (unit * 4096)[:4096]
    started = time.process_time()
    printed_numbers(line)
    assert time.process_time() - started < 0.5


def test_a_line_has_so_many_numbers() -> None:
    assert len(printed_numbers(" ".join(f"a{number}=1" for number in range(1000)))) == 50
