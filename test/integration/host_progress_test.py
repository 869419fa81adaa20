"""Training code on a host reports how far it is, as it does on the user's own machine."""

from datetime import UTC, datetime

from trainway.agent.base.testing import container, jobset, role
from trainway.agent.host.testing import HostJob, host_agent
from trainway.backends.agents.certificate import new_status_keys

REPORT = """
import json, os, ssl, urllib.request as request
token = open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read()
trust = ssl.create_default_context(cafile=os.environ["KUBEFLOW_TRAINER_SERVER_CA_CERT"])
status = {"progressPercentage": 42, "lastUpdatedTime": "2026-01-01T00:00:00Z"}
body = json.dumps({"trainerStatus": status}).encode()
headers = {"Authorization": f"Bearer {token}"}
url = os.environ["KUBEFLOW_TRAINER_SERVER_URL"]
request.urlopen(request.Request(url, body, headers, method="POST"), context=trust).read()
"""


def test_progress_is_reported_over_the_loopback_address() -> None:
    keys = new_status_keys("job", datetime.now(UTC))
    files = {
        "certificate": keys.certificate.decode(),
        "key": keys.key.decode(),
        "token": keys.token,
    }
    main = {"name": "main", "command": ["python3", "-c", REPORT]}
    job = HostJob(jobset(role("node", main)), status={"path": "/status", "files": files})
    with host_agent() as host:
        client = host.connected()
        job.submit(client)
        job.start(client)
        record = client.event("record", type="progress")
        assert record["trainerStatus"]["progressPercentage"] == 42
        client.pod("Succeeded")


def test_what_a_pod_uses_travels_with_its_records() -> None:
    job = HostJob(jobset(role("node", container("main", "exec sleep 600"))))
    with host_agent() as host:
        client = host.connected()
        job.submit(client)
        job.start(client)
        used = client.event("record", type="usage")["pods"]["node-0-0"]
        assert used["peakMemory"] >= used["memory"] > 0
