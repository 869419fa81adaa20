"""SkyPilot's calls for managed jobs, as other names of ours: `from trainway.sdk import sky`.

A call of SkyPilot gives the id of a request, and `sky.get(id)` waits for its result. Here a call
has done its work when it returns, and the id brings the result along, so programs that are written
for SkyPilot need no other lines. The ids of jobs are texts here.
"""

from trainway.sdk.managed_jobs import ManagedJobStatus
from trainway.sdk.sky import jobs
from trainway.sdk.sky.requests import RequestId, get, stream_and_get

__all__ = ["ManagedJobStatus", "RequestId", "get", "jobs", "stream_and_get"]
