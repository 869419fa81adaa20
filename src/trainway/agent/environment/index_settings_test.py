from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trainway.agent.environment.index_settings import for_uv


@dataclass(frozen=True)
class Case:
    name: str
    environ: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    index: str | None = None
    links: str | None = None


PIP = "[global]\nindex-url = http://conf\n"
CASES = (
    Case("nothing is said"),
    Case("pip's variable", {"PIP_INDEX_URL": "http://pip"}, index="http://pip"),
    Case("pip's file", files={".config/pip/pip.conf": PIP}, index="http://conf"),
    Case("pip's old file", files={".pip/pip.conf": PIP}, index="http://conf"),
    Case(
        "a variable before a file",
        {"PIP_INDEX_URL": "http://pip"},
        {".config/pip/pip.conf": PIP},
        index="http://pip",
    ),
    Case("folders", {"PIP_FIND_LINKS": "/a /b"}, links="/a,/b"),
    Case(
        "uv's variable before all",
        {"PIP_INDEX_URL": "http://pip", "UV_INDEX_URL": "http://uv"},
        index="http://uv",
    ),
    Case(
        "uv's file before pip",
        {"PIP_INDEX_URL": "http://pip"},
        {".config/uv/uv.toml": '[[index]]\nurl = "http://uv"\n'},
    ),
    Case(
        "a file of uv that says nothing of it",
        {"PIP_INDEX_URL": "http://pip"},
        {".config/uv/uv.toml": 'link-mode = "copy"\n'},
        index="http://pip",
    ),
    Case("a broken file", files={".config/pip/pip.conf": "what"}),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_uv_installs_from_where_pip_would(case: Case, tmp_path: Path) -> None:
    for name, text in case.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    env = for_uv({"HOME": str(tmp_path), "PIP_CONFIG_FILE": "/dev/null", **case.environ})
    assert (env.get("UV_INDEX_URL"), env.get("UV_FIND_LINKS")) == (case.index, case.links)
