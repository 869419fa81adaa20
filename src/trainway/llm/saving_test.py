import json
from pathlib import Path

from trainway.llm.saving import name_base


def test_an_adapter_names_its_model_as_the_hub_does(tmp_path: Path) -> None:
    file = tmp_path / "adapter_config.json"
    file.write_text(json.dumps({"base_model_name_or_path": "/workspace/model", "r": 16}))
    name_base(tmp_path, "org/base")
    assert json.loads(file.read_text()) == {"base_model_name_or_path": "org/base", "r": 16}
