"""Run the code of a notebook without Jupyter: `notebook_cells.py FILE.ipynb`.

As in a kernel, each cell is a file of its own and all share their names. The source of a function
can be looked up, which a job that is a function needs.
"""

import json
import linecache
import sys
from pathlib import Path


def main(path: str) -> None:
    names = sys.modules["__main__"].__dict__
    for number, cell in enumerate(json.loads(Path(path).read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        file = f"<cell {number}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), names)  # noqa: S102 (what this is for)


if __name__ == "__main__":
    main(sys.argv[1])
