from pathlib import Path

from cluster.kueue import METRICS_CERTIFICATES, etc_folder, webhooks_by_url, with_etc, write_crds

WEBHOOKS = """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating-webhook-configuration}
webhooks:
  - name: mtrainjob.kb.io
    clientConfig: {service: {name: webhook-service, namespace: system, path: /mutate-trainjob}}
    rules: [{resources: [trainjobs]}]
  - name: mpod.kb.io
    clientConfig: {service: {name: webhook-service, namespace: system, path: /mutate-pod}}
    rules: [{resources: [pods]}]
"""
CRD = """\
kind: CustomResourceDefinition
spec: {{names: {{plural: {plural}}}}}
"""


def test_webhooks_of_kinds_without_integration_are_left_out() -> None:
    (document,) = webhooks_by_url(WEBHOOKS, "https://127.0.0.1:1", "Q0E=")
    assert document["metadata"]["name"] == "kueue-mutating-webhook-configuration"
    (webhook,) = document["webhooks"]
    assert webhook["clientConfig"] == {
        "url": "https://127.0.0.1:1/mutate-trainjob",
        "caBundle": "Q0E=",
    }


def test_only_kinds_with_two_versions_are_converted(tmp_path: Path) -> None:
    bases = tmp_path / "bases"
    bases.mkdir()
    for plural in ("workloads", "topologies"):
        (bases / f"{plural}.yaml").write_text(CRD.format(plural=plural))
    target = write_crds(bases, tmp_path, "https://127.0.0.1:1", "Q0E=")
    assert '"url": "https://127.0.0.1:1/convert"' in (target / "workloads.json").read_text()
    assert "conversion" not in (target / "topologies.json").read_text()


def test_the_machine_s_own_etc_is_left_alone(tmp_path: Path) -> None:
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    (certificates / "tls.crt").write_text("certificate")
    etc = etc_folder(tmp_path, certificates)
    assert (etc / METRICS_CERTIFICATES / "tls.crt").read_text() == "certificate"
    command = with_etc(etc, ["kueue", "--config=c"])
    assert command[:2] == ["unshare", "--mount"]
    assert command[-3:] == [str(etc), "kueue", "--config=c"]
