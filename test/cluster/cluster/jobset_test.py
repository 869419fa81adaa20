from cluster.jobset import webhooks_by_url

CONFIGURATION = """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating}
webhooks:
  - name: jobsets
    clientConfig: {service: {name: webhook-service, namespace: system, path: /mutate-jobset}}
    rules: [{resources: [jobsets]}]
  - name: pods
    clientConfig: {service: {name: webhook-service, namespace: system, path: /mutate-pod}}
    rules: [{resources: [pods]}]
"""


def test_services_become_urls_and_other_pods_are_left_alone() -> None:
    (document,) = webhooks_by_url(CONFIGURATION, "https://127.0.0.1:1", "Q0E=")
    jobsets, pods = document["webhooks"]
    assert jobsets["clientConfig"] == {
        "url": "https://127.0.0.1:1/mutate-jobset",
        "caBundle": "Q0E=",
    }
    assert "objectSelector" not in jobsets
    assert pods["objectSelector"]["matchExpressions"] == [
        {"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}
    ]
