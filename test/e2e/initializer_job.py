"""A TrainJob that fetches a model and a data set, and says what its nodes have of them."""

import sys
from pathlib import Path
from typing import Any, Final

import yaml
from s3_server import ACCESS, SECRET, S3Server

from trainway.data.hub_testing import NAME, PretendedHub
from trainway.json_types import Json

MODEL: Final = {
    "config.json": b"{}",
    "model.safetensors": b"weights" * 3_000_000,
    "pytorch_model.bin": b"the same once more",
}
COMMAND: Final = (
    "cd /workspace && find . -type f -not -name '.*' -print0 | sort -z | xargs -0 wc -c"
)
FETCHED: Final = [
    f"{size} ./{name}"
    for name, size in (
        ("dataset/part/a.txt", 5),
        ("model/config.json", 2),
        ("model/model.safetensors", 21_000_000),
    )
]
"""What a node says that has all of it; the weights of another format are left out."""


def train_job(
    name: str, cache: Path | None, dataset: str, hub: PretendedHub, dataset_env: Json | None = None
) -> Json:
    """It trains on a runtime that has no initializers, on two nodes."""
    cached = {} if cache is None else {"TRAINWAY_DATA_CACHE": str(cache)}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {
            "runtimeRef": {"name": "torch-distributed"},
            "initializer": {
                "dataset": {"storageUri": dataset, "env": _env({**cached, **(dataset_env or {})})},
                "model": {
                    "storageUri": f"hf://{NAME}",
                    "env": _env({**cached, "HF_ENDPOINT": hub.address}),
                },
            },
            "trainer": {"numNodes": 2, "command": ["sh", "-c", COMMAND]},
        },
    }


def written(folder: Path, job: Json) -> str:
    """The name of a file with the job."""
    file = folder / f"{job['metadata']['name']}.yaml"
    file.write_text(yaml.safe_dump(job))
    return str(file)


def bucket_variables(server: S3Server) -> Json:
    """What an initializer is told to fetch from the S3 of a test, with the Python of the tests."""
    return {
        "ENDPOINT": f"http://{server.host}:{server.port}",
        "ACCESS_KEY_ID": ACCESS,
        "SECRET_ACCESS_KEY": SECRET,
        "REGION": "us-east-1",
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
    }


def filled(server: S3Server, bucket: str) -> str:
    """The URI of a data set in a new bucket."""
    folder = server.bucket(bucket) / "train" / "part"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"12345")
    return f"s3://{bucket}/train"


def said(printed: str, node: str) -> list[str]:
    """What a node says that it has."""
    lines = [line.partition("| ") for line in printed.splitlines()]
    found = [text.strip() for who, _, text in lines if who.strip() in (node, f"{node}/node")]
    return [text for text in found if "./" in text]


def _env(values: Json) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in values.items()]
