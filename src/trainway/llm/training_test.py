from pathlib import Path

import pytest

from trainway.errors import UnreadableError
from trainway.llm.configuration import configured
from trainway.llm.training import description_of


@pytest.mark.parametrize("text", ["", "[1, 2]", "7", "{", "[" * 100_000, "\udcff"])
def test_a_configuration_that_makes_no_sense_is_one_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    config = configured({}, [f"model={tmp_path}", "dataset=/d"], "")
    with pytest.raises(UnreadableError, match=r"has no config\.json that can be read"):
        description_of(config)
