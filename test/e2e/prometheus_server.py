"""A real Prometheus of a test's own, which reads every second, and what tests ask it."""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from cluster.ports import free_port
from environments import REPOSITORY

from trainway.json_types import Json

LIMIT_S: Final = 120.0
PAUSE_S: Final = 0.25
RULES: Final = REPOSITORY / "monitoring" / "prometheus" / "trainway-alerts.yaml"
RULE_TESTS: Final = REPOSITORY / "monitoring" / "prometheus" / "trainway-alerts-test.yaml"
DASHBOARDS: Final = REPOSITORY / "monitoring" / "grafana"
CHOICE: Final = re.compile(r"\$(\w+)")
LABEL_VALUES: Final = re.compile(r"label_values\((.*), (\w+)\)")
USUAL: Final = {"__rate_interval": "1m", "__range": "5m"}


@dataclass(frozen=True)
class PanelQuery:
    """A query of a dashboard, as Grafana sends it."""

    dashboard: str
    panel: str
    text: str


def panel_queries(names: Iterable[str], choices: Mapping[str, str]) -> list[PanelQuery]:
    """The queries of all panels of some dashboards, with what a reader has chosen."""
    found = []
    for name in names:
        model = json.loads((DASHBOARDS / f"{name}.json").read_text())
        for panel in model["panels"]:
            for target in panel.get("targets", ()):
                text = chosen(target["expr"], choices)
                found.append(PanelQuery(name, panel["title"], text))
    return found


def variable_queries(names: Iterable[str], choices: Mapping[str, str]) -> list[tuple[str, str]]:
    """Where the choices of some dashboards come from: a query, and the label that is offered."""
    found = []
    for name in names:
        model = json.loads((DASHBOARDS / f"{name}.json").read_text())
        for variable in model["templating"]["list"]:
            if variable["type"] == "query":
                match = LABEL_VALUES.fullmatch(variable["definition"])
                assert match is not None, variable
                found.append((chosen(match[1], choices), match[2]))
    return found


def chosen(text: str, choices: Mapping[str, str]) -> str:
    return CHOICE.sub(lambda match: {**USUAL, **choices}[match[1]], text)


class Prometheus:
    """The server, while it runs."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"

    def ask(self, path: str, **parameters: str) -> Any:
        query = urllib.parse.urlencode(
            {name.replace("match", "match[]"): value for name, value in parameters.items()}
        )
        url = f"{self._url}{path}?{query}"
        with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:  # noqa: S310 - our own
            return json.load(answer)["data"]

    def series(self, query: str) -> list[Json]:
        """What a query gives now."""
        found: list[Json] = self.ask("/api/v1/query", query=query)["result"]
        return found

    def values(self, query: str, label: str) -> list[str]:
        """What a label may be, as a variable of a dashboard offers it."""
        found: list[str] = self.ask(f"/api/v1/label/{label}/values", match=query)
        return found

    def wait_for_targets(self, count: int) -> None:
        """Wait until all targets were read."""

        def health() -> list[tuple[str, str]]:
            targets = self.ask("/api/v1/targets", state="active")["activeTargets"]
            return [(target["health"], target["lastError"]) for target in targets]

        wait_until_empty(lambda: [] if health() == [("up", "")] * count else health())

    def wait_for_series(self, queries: Sequence[PanelQuery]) -> None:
        """Wait until every query gives a series."""
        missing = list(queries)

        def still_missing() -> list[PanelQuery]:
            missing[:] = [each for each in missing if not self.series(each.text)]
            return missing

        wait_until_empty(still_missing)


def wait_until_empty(look: Any) -> None:
    """Wait until there is nothing left, or fail with what is."""
    deadline = time.monotonic() + LIMIT_S
    while left := look():
        assert time.monotonic() < deadline, left
        time.sleep(PAUSE_S)


@contextlib.contextmanager
def prometheus(folder: Path, scrapes: Sequence[Json]) -> Iterator[Prometheus]:
    """Prometheus with our rules, reading these targets every second."""
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": list(scrapes),
    }
    file, port = folder / "prometheus.yml", free_port()
    file.write_text(yaml.safe_dump(config))
    promtool("check", "config", str(file))
    command = [
        "prometheus",
        f"--config.file={file}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield _ready(Prometheus(port), process, folder / "prometheus.log")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(LIMIT_S)
        shutil.rmtree(folder / "data", ignore_errors=True)


def _ready(server: Prometheus, process: subprocess.Popen[bytes], log: Path) -> Prometheus:
    def problem() -> list[str]:
        assert process.poll() is None, log.read_text()
        try:
            server.ask("/api/v1/status/runtimeinfo")
        except OSError as error:
            return [str(error)]
        return []

    wait_until_empty(problem)
    return server


def promtool(*words: str) -> str:
    """Run promtool, which must be content."""
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
