"""What is said of webhooks that do not answer."""

from dataclasses import dataclass

import pytest

from trainway.kube.webhook_failure import webhook_failure

HEAD = "Internal error occurred: failed calling webhook"


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    message: str
    hint: str


CASES = (
    Case(
        "JobSet's",
        f'{HEAD} "mjobset.kb.io": failed to call webhook: Post'
        ' "https://jobset-webhook-service.jobset-system.svc:443/mutate-jobset?timeout=10s":'
        ' no endpoints available for service "jobset-webhook-service"',
        "JobSet's controller does not answer (webhook mjobset.kb.io): the Service"
        " jobset-webhook-service in namespace jobset-system has no ready endpoints",
        "look at its pods: kubectl --context lab get pods -n jobset-system",
    ),
    Case(
        "ours",
        f'{HEAD} "validator.trainjob.trainer.kubeflow.org": failed to call webhook: Post'
        ' "https://kubeflow-trainer-controller-manager.kubeflow-system.svc:443/validate": dial tcp',
        "the operator of TrainJobs does not answer (webhook validator.trainjob.trainer.kubeflow.org"
        "): the Service kubeflow-trainer-controller-manager in namespace kubeflow-system has no"
        " ready endpoints",
        "look at its pods: kubectl --context lab get pods -n kubeflow-system",
    ),
    Case(
        "Kueue's",
        f'{HEAD} "mjob.kb.io": failed to call webhook: Post'
        ' "https://kueue-webhook-service.kueue-system.svc:443/mutate": refused',
        "Kueue does not answer (webhook mjob.kb.io): the Service"
        " kueue-webhook-service in namespace kueue-system has no ready endpoints",
        "look at its pods: kubectl --context lab get pods -n kueue-system",
    ),
    Case(
        "ours, slow",
        f'{HEAD} "validator.trainjob.trainer.kubeflow.org": failed to call webhook: Post'
        ' "https://trainer.kubeflow-system.svc:443/validate?timeout=10s": context deadline'
        " exceeded",
        "the operator of TrainJobs does not answer (webhook validator.trainjob.trainer.kubeflow.org"
        "): there is no answer in time from the Service trainer in namespace kubeflow-system",
        "look at its pods: kubectl --context lab get pods -n kubeflow-system",
    ),
    Case(
        "JobSet's, with a certificate of before",
        f'{HEAD} "mjobset.kb.io": failed to call webhook: Post'
        ' "https://jobset-webhook-service.jobset-system.svc:443/mutate?timeout=10s": tls: failed to'
        " verify certificate: x509: certificate signed by unknown authority",
        "JobSet's controller does not answer (webhook mjobset.kb.io): the API server does not trust"
        " the certificate of the Service jobset-webhook-service in namespace jobset-system",
        "look at its pods: kubectl --context lab get pods -n jobset-system",
    ),
    Case(
        "one that answers with something else",
        f'{HEAD} "mjobset.kb.io": failed to call webhook: Post'
        ' "https://jobset-webhook-service.jobset-system.svc:443/mutate?timeout=10s": bad answer',
        "JobSet's controller does not answer (webhook mjobset.kb.io): the Service"
        " jobset-webhook-service in namespace jobset-system: bad answer",
        "look at its pods: kubectl --context lab get pods -n jobset-system",
    ),
    Case(
        "one of which nothing is known",
        f'{HEAD} "check.example.com": failed to call webhook',
        "webhook check.example.com does not answer",
        "find out who serves it: kubectl --context lab get validatingwebhookconfigurations",
    ),
    Case(
        "another's, by URL",
        f'{HEAD} "check.example.com": failed to call webhook: Post "https://10.0.0.1/x": refused',
        "webhook check.example.com does not answer: 10.0.0.1 cannot be reached",
        "find out who serves it: kubectl --context lab get validatingwebhookconfigurations",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_told_who_does_not_answer(case: Case) -> None:
    assert webhook_failure(case.text, "lab") == (case.message, case.hint)


def test_other_failures_are_none_of_a_webhook() -> None:
    assert webhook_failure("etcdserver: request timed out") is None
