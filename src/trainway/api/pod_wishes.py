"""What somebody asks for the pods of a job with a few words: amounts, an image and a command.

The command line, the SDK and the dashboard's form all make their MPIJobs and TrainJobs of it, so
that the same words give the same objects. What is wrong with a wish is a `FieldError` whose path is
the name of the wish.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.jobset.label_syntax import label_problem
from trainway.jobset.literal_text import literal
from trainway.jobset.quantity import InvalidQuantityError, Quantity
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, invalid, key_step, required

Amount = str | int | float
Command = str | Sequence[str]

NVIDIA_GPU: Final = "nvidia.com/gpu"
ISTIO: Final = {"sidecar.istio.io/inject": "false"}
"""A sidecar would never end, and would stand between the pods of a job."""

_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_VARIABLE: Final = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_QUEUE: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_IMAGE: Final = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?/|\[[0-9a-fA-F:]+\](?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,128})?"
)
_LONGEST_IMAGE: Final = 512
_LONGEST_HOST: Final = 63
_LARGEST_NUMBER: Final = 2**31 - 1
"""What fields of objects can hold."""
MOST_PODS: Final = 100_000
"""What Kubernetes lets a Job have that numbers its pods."""
_LEAST_MEMORY: Final = 1 << 20
"""Whoever asks for fewer bytes of memory than these has left out the unit."""
_SHELL: Final = frozenset(";&|<>$`*?(){}~#!\n")
"""A text with one of these means more to a shell than words."""
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, kw_only=True)
class ResourceRequirements:
    """What each worker gets, in Kubernetes' amounts: `cpu=8, memory="64Gi", gpu=1`."""

    cpu: Amount | None = None
    memory: Amount | None = None
    gpu: int | None = None
    gpu_resource: str = NVIDIA_GPU
    """The name of the device in the cluster, such as `amd.com/gpu`."""

    def to_dict(self) -> Json:
        """Requests, and limits of memory and of devices."""
        devices = {self.gpu_resource: str(self.gpu)} if self.gpu else {}
        memory = {} if self.memory is None else {"memory": str(self.memory)}
        cpu = {} if self.cpu is None else {"cpu": str(self.cpu)}
        amounts = {"requests": {**cpu, **memory, **devices}, "limits": {**memory, **devices}}
        return {kind: each for kind, each in amounts.items() if each}


def words_of(command: Command) -> list[str]:
    """A command as a list of words; a text that only a shell understands is given to one."""
    if not isinstance(command, str):
        return [str(word) for word in command]
    if _SHELL & set(command) or _ASSIGNMENT.match(command.lstrip()):
        return ["sh", "-c", command]
    return shlex.split(command)


def first_word(command: Command) -> str:
    """The program that a command starts, without its folder; empty where that cannot be told."""
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError:
        return ""
    named = (word for word in words if not _ASSIGNMENT.match(word))
    return str(next(named, "")).rpartition("/")[2]


def literal_words(words: Sequence[str]) -> list[str]:
    """The words for a container: Kubernetes replaces nothing in them."""
    return [literal(word) for word in words]


def name_problems(name: str, longest_suffix: str) -> Iterator[FieldError]:
    """What is wrong with the name of a job whose pods are called by it and a suffix."""
    if not name:
        yield required(("name",), "a job needs a name")
    elif not _LABEL.fullmatch(name):
        yield invalid(
            ("name",),
            name,
            "must be at most 63 lower case letters, digits and '-', must start with a letter, and"
            " must not end with '-'",
        )
    elif len(name) + len(longest_suffix) > _LONGEST_HOST:
        most = _LONGEST_HOST - len(longest_suffix)
        yield invalid(("name",), name, f"must have at most {most} characters")


def image_problems(image: str) -> Iterator[FieldError]:
    """What is wrong with the name of an image; Kubernetes itself would say so in each pod."""
    if not image:
        yield required(("image",), "name the image that the pods run, such as python:3.12-slim")
    elif len(image) > _LONGEST_IMAGE or not _IMAGE.fullmatch(image):
        detail = "must be an image such as registry.example.com/team/train:v1, in lower case"
        yield invalid(("image",), image, detail)


def command_problems(command: Command) -> Iterator[FieldError]:
    """What is wrong with a command."""
    try:
        words = words_of(command)
    except ValueError:
        yield invalid(("command",), command, "has a quotation mark that is not closed")
        return
    if not any(words):
        yield required(("command",), 'say what to run, such as "python train.py"')


def resource_problems(resources: ResourceRequirements) -> Iterator[FieldError]:
    """What is wrong with amounts."""
    for name, amount in (("cpu", resources.cpu), ("memory", resources.memory)):
        if amount is None:
            continue
        try:
            quantity = Quantity.parse(amount)
        except InvalidQuantityError:
            example = "8 or 500m" if name == "cpu" else "64Gi"
            yield invalid((name,), amount, f"must be an amount such as {example}")
            continue
        if quantity < Quantity.parse(0):
            yield invalid((name,), amount, "must not be negative")
        elif name == "memory" and not quantity.is_zero and quantity < Quantity.parse(_LEAST_MEMORY):
            detail = f"would be less than a mebibyte; write {amount}Gi for gibibytes"
            yield invalid((name,), amount, detail)
    if resources.gpu is not None and resources.gpu < 0:
        yield invalid(("gpu",), resources.gpu, "must not be negative")
    else:
        yield from number_problems("gpu", resources.gpu, 0)


def number_problems(
    name: str, value: int | None, smallest: int, largest: int = _LARGEST_NUMBER
) -> Iterator[FieldError]:
    """What is wrong with a number that may be too small or too large."""
    if value is not None and value < smallest:
        yield invalid((name,), value, f"must be at least {smallest}")
    elif value is not None and value > largest:
        yield invalid((name,), value, f"must be at most {largest}")


def is_namespace(name: str) -> bool:
    """Whether a namespace can have this name."""
    return _NAMESPACE.fullmatch(name) is not None


def namespace_problems(namespace: str) -> Iterator[FieldError]:
    """What is wrong with the name of a namespace."""
    if namespace and not is_namespace(namespace):
        yield invalid(("namespace",), namespace, "must be the name of a namespace")


def queue_problems(queue: str) -> Iterator[FieldError]:
    """What is wrong with the name of a LocalQueue."""
    if queue and not _QUEUE.fullmatch(queue):
        yield invalid(("queue",), queue, "must be the name of a LocalQueue")


def text_problems(env: Mapping[str, str], labels: Mapping[str, str]) -> Iterator[FieldError]:
    """What is wrong with variables and labels."""
    for name in env:
        if not _VARIABLE.fullmatch(name):
            yield invalid(("env", key_step(name)), name, "is not the name of a variable")
    for key, value in labels.items():
        if problem := label_problem(key, value):
            path: Path = ("labels", key_step(key))
            yield invalid(path, value, problem)
