"""SkyPilot's calls, as other names of ours: `from trainway.sdk import sky`.

There are those for managed jobs, buckets and volumes.

A call of SkyPilot gives the id of a request, and `sky.get(id)` waits for its result. Here a call
has done its work when it returns, and the id brings the result along, so programs that are written
for SkyPilot need no other lines. The ids of jobs are texts here.
"""

from trainway.sdk.managed_jobs import ManagedJobStatus
from trainway.sdk.sky import jobs, volumes
from trainway.sdk.sky.requests import RequestId, get, stream_and_get
from trainway.sdk.sky.storage import storage_delete, storage_ls

__all__ = [
    "ManagedJobStatus",
    "RequestId",
    "get",
    "jobs",
    "storage_delete",
    "storage_ls",
    "stream_and_get",
    "volumes",
]
