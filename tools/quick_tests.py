"""Names the tests that `make test-quick` runs: the pure packages', and those of what has changed.

Changed is what differs from the last commit whose `make test` passed, which `--passed` records. A
unit test belongs to a change if it imports it, however indirectly: the graph of imports is grimp's,
as for import-linter. Where a change is in none of our modules (a fixture, a table of data), the
tests of its folder run.
"""

import argparse
import subprocess
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).resolve().parent.parent
PASSED: Final = ROOT / ".venv" / "tests-passed-at"
PURE: Final = ("schema", "jobset", "api", "compiler")
"""The packages of src/trainway that do no I/O; see the contract in pyproject.toml."""


def main(arguments: list[str]) -> int:
    """Print the folders and files to give to pytest, or record what has passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passed", action="store_true", help="record that `make test` has passed")
    if parser.parse_args(arguments).passed:
        record_passed()
        return 0
    graph = grimp.build_graph("trainway", cache_dir=str(ROOT / ".venv" / "grimp"))
    tests = quick_tests(changed_files(), graph)
    sys.stdout.write("\n".join([*(f"src/trainway/{name}" for name in PURE), *tests]) + "\n")
    return 0


def quick_tests(changed: Iterable[str], graph: grimp.ImportGraph) -> list[str]:
    """The files with tests of what has changed, without those of the pure packages."""
    found: set[str] = set()
    for path in changed:
        module = module_of(path)
        if module is not None and module in graph.modules:
            found |= {file_of(name) for name in importers(module, graph) if is_test(name)}
        elif path.startswith("src/") and "testdata" in path:
            found.add(str(Path(path.split("/testdata")[0])))
    pure = tuple(f"src/trainway/{name}/" for name in PURE)
    return sorted(path for path in found if not path.startswith(pure) and (ROOT / path).exists())


def importers(module: str, graph: grimp.ImportGraph) -> Collection[str]:
    """A module and all that import it, however indirectly."""
    return {module, *graph.find_downstream_modules(module)}


def module_of(path: str) -> str | None:
    """The name of the module in a file; None for a file that is none of ours."""
    if not path.startswith("src/trainway/") or not path.endswith(".py"):
        return None
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def file_of(module: str) -> str:
    """Where a module of tests is."""
    return f"src/{module.replace('.', '/')}.py"


def is_test(module: str) -> bool:
    """Whether a module is one of tests."""
    return module.endswith("_test")


def changed_files() -> list[str]:
    """The files that differ from the commit that passed, in commits since or not committed."""
    base = PASSED.read_text().strip() if PASSED.exists() else "HEAD"
    tracked = _git("diff", "--name-only", base, "--")
    new = _git("ls-files", "--others", "--exclude-standard")
    return [*tracked.splitlines(), *new.splitlines()]


def record_passed() -> None:
    """Keep the commit whose tests have passed, unless there is more here than that commit."""
    if not _git("status", "--porcelain", "--untracked-files=no").strip():
        PASSED.write_text(_git("rev-parse", "HEAD"))


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
