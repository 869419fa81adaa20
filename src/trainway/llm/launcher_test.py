import signal
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from trainway.errors import UnavailableError
from trainway.llm import launcher
from trainway.llm.installation import NEEDED, check_installed
from trainway.llm.launcher import exit_code


@pytest.mark.parametrize(("code", "ends"), [(1, 1), (2, 2), (-9, 137), (-15, 143)])
def test_a_node_ends_as_its_first_failure(code: int, ends: int) -> None:
    failure = SimpleNamespace(exitcode=code)
    assert exit_code(SimpleNamespace(get_first_failure=lambda: (0, failure))) == ends


def test_a_signal_ends_it_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class SignalException(Exception):  # noqa: N818 - torch's name
        sigval = signal.SIGTERM

    def ended(_: list[str]) -> None:
        raise SignalException

    place = "torch.distributed.elastic.multiprocessing"
    fakes: dict[str, Any] = {
        "torch.distributed": {"run": SimpleNamespace(main=ended)},
        place: {"SignalException": SignalException},
        f"{place}.errors": {"ChildFailedError": KeyError},
    }
    for name in ("torch", "torch.distributed.elastic", *fakes):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**fakes.get(name, {})))
    monkeypatch.setattr(launcher, "check_installed", lambda: None)
    assert launcher.main(["sft"]) == 143


def test_what_is_missing_is_named() -> None:
    check_installed(lambda name: name)
    with pytest.raises(UnavailableError) as raised:
        check_installed(lambda name: None if name in ("trl", "peft") else name)
    assert raised.value.message.startswith("trl, peft cannot be imported by")
    assert raised.value.hint == "install it there: pip install trl peft"
    assert "torch" in NEEDED
