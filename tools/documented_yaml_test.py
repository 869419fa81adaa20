"""Whatever a document shows as YAML can be read as YAML: people paste it."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SHOWN = re.compile(r"^```ya?ml\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "document", [path for path in DOCUMENTS if SHOWN.search(path.read_text())], ids=lambda p: p.name
)
def test_it_can_be_read(document: Path) -> None:
    for shown in SHOWN.findall(document.read_text()):
        assert any(each is not None for each in yaml.safe_load_all(shown)), shown
