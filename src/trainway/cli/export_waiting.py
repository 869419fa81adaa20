"""`run --export`: the job has succeeded, and its output is still on its way into a bucket."""

import time
from collections.abc import Callable
from typing import Final

from trainway.cli.output import echo_line
from trainway.json_types import Json
from trainway.sdk.rest import Rest

FAILED: Final = 1
"""The exit status where the job succeeded and its export did not."""
_UNDER_WAY: Final = ("Waiting", "Uploading")
_PAUSE_S: Final = 0.3


def wait_for_export(rest: Rest, job: Json, sleep: Callable[[float], None] = time.sleep) -> int:
    """Tell how the export of a job ends; the exit status says whether it did well."""
    export = job["status"].get("export")
    if not export:
        return 0
    said = ""
    while export["state"] in _UNDER_WAY:
        text = f"the output is being sent to {export['uri']}"
        if export.get("message"):
            text = f"{text}: {export['message']}; trying again"
        if text != said:
            echo_line(text)
        said = text
        sleep(_PAUSE_S)
        export = rest.get(job["metadata"]["id"])["status"]["export"]
    if export["state"] == "Failed":
        echo_line(f"error: the output is not in {export['uri']}: {export['message']}")
        echo_line(f"hint: the job succeeded, and its output is in {job['status']['outputDir']}")
        return FAILED
    files = "1 file" if export["files"] == 1 else f"{export['files']} files"
    are = "is" if export["files"] == 1 else "are"
    echo_line(f"{files} of the output {are} in {export['uri']}")
    return 0
