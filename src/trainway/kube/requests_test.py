import orjson

from trainway.json_types import Json
from trainway.kube import requests
from trainway.kube.requests import (
    EVERYTHING,
    JSON_PATCH,
    Execution,
    LogRequest,
    Request,
    Selection,
)
from trainway.kube.resources import CONFIG_MAPS, JOBSETS, TRAINJOBS

_OBJECT: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "n"},
}

_UNWARNED = "fieldValidation=Ignore"


def _body(request: Request) -> object:
    assert request.body is not None
    return orjson.loads(request.body)


def test_first_page_and_the_next() -> None:
    selection = Selection(label_selector="a=b,c", field_selector="metadata.name=x")
    first = requests.page(CONFIG_MAPS, "n", selection, 500)
    selectors = "labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dx"
    assert first.path == f"/api/v1/namespaces/n/configmaps?{selectors}&limit=500"
    following = requests.page(CONFIG_MAPS, "", EVERYTHING, 2, "a=/+")
    assert following.path == "/api/v1/configmaps?limit=2&continue=a%3D%2F%2B"


def test_metadata_only_asks_for_another_form() -> None:
    selection = Selection(metadata_only=True)
    page = requests.page(CONFIG_MAPS, "", selection, 1)
    changes = requests.changes(CONFIG_MAPS, "", selection, "7", 300)
    assert page.accept.startswith("application/json;as=PartialObjectMetadataList;")
    assert changes.accept.startswith("application/json;as=PartialObjectMetadata;")


def test_watch() -> None:
    request = requests.changes(JOBSETS, "", EVERYTHING, "7", 300)
    assert request.path == (
        "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
        "?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=7"
    )


def test_creation_is_sent_once() -> None:
    request = requests.creation(CONFIG_MAPS, _OBJECT, field_manager="me", dry_run=True)
    path = "/api/v1/namespaces/n/configmaps"
    assert request[:2] == ("POST", f"{path}?fieldManager=me&dryRun=All&{_UNWARNED}")
    assert _body(request) == _OBJECT
    assert not request.is_repeatable


def test_application() -> None:
    request = requests.application(_OBJECT, "trainer")
    path = "/api/v1/namespaces/n/configmaps/c"
    assert request[:2] == ("PATCH", f"{path}?fieldManager=trainer&{_UNWARNED}&force=true")
    assert request.content == "application/apply-patch+yaml"
    assert request.is_repeatable
    weak = requests.application(_OBJECT, "t", force=False, subresource="status", resource=TRAINJOBS)
    path = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/n/trainjobs/c/status"
    assert weak.path == f"{path}?fieldManager=t&{_UNWARNED}"


def test_only_a_json_patch_cannot_be_repeated() -> None:
    assert requests.change(CONFIG_MAPS, "c", "n", {"data": None}).is_repeatable
    appending = [{"op": "add", "path": "/x/-", "value": 1}]
    patch = requests.change(CONFIG_MAPS, "c", "n", appending, content=JSON_PATCH)
    assert not patch.is_repeatable
    assert _body(patch) == appending


def test_removal_of_one_object_by_its_uid() -> None:
    quick = requests.removal(CONFIG_MAPS, "c", "n", grace_s=2)
    assert quick.body == b'{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":2}'
    request = requests.removal(CONFIG_MAPS, "c", "n", "Foreground", "u")
    assert request[:2] == ("DELETE", "/api/v1/namespaces/n/configmaps/c")
    assert _body(request) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Foreground",
        "preconditions": {"uid": "u"},
    }


def test_replacement_of_a_part() -> None:
    request = requests.replacement(CONFIG_MAPS, _OBJECT, "status", "me")
    path = "/api/v1/namespaces/n/configmaps/c/status"
    assert request[:2] == ("PUT", f"{path}?fieldManager=me&{_UNWARNED}")


def test_logs() -> None:
    path = "/api/v1/namespaces/n/pods/p/log?container=main&timestamps=true"
    assert requests.log("n", "p", LogRequest("main")).path == path
    since = LogRequest("main", "2026-11-15T05:10:00Z", follow=True)
    assert requests.log("n", "p", since).path == (
        f"{path}&sinceTime=2026-11-15T05%3A10%3A00Z&follow=true"
    )
    older = LogRequest("main", previous=True)
    assert requests.log("n", "p", older).path == f"{path}&previous=true"


def test_a_command_in_a_pod() -> None:
    path = "/api/v1/namespaces/n/pods/p/exec?container=c"
    wanted = Execution("c", ("sh", "-c", "a & b"), stdin=True)
    assert requests.execution("n", "p", wanted) == (
        f"{path}&command=sh&command=-c&command=a%20%26%20b&stdin=true&stdout=true&stderr=true"
    )
    terminal = Execution("c", ("sh",), stdin=True, tty=True)
    assert requests.execution("n", "p", terminal) == (
        f"{path}&command=sh&stdin=true&stdout=true&tty=true"
    )


def test_a_port_of_a_pod() -> None:
    path = requests.forwarding("n", "p", 80)
    assert path == "/api/v1/namespaces/n/pods/p/portforward?ports=80"
