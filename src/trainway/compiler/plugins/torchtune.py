"""TorchTune: `tune run` becomes a recipe and a config chosen from model, devices and arguments.

TorchTune is not a policy of its own: a job uses it by the command `["tune", "run"]` on a runtime
with the policy `torch` whose name tells the model, such as torchtune-llama3.2-1b.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainway.compiler.devices import cpus, gpus
from trainway.compiler.workload import Workload
from trainway.schema.field import FieldError, invalid

ENTRYPOINT = ["tune", "run"]
LLAMA_3_2 = ("llama3_2/1B", "llama3_2/3B")
LLAMA_3_3_70B = "llama3_3/70B"
QWEN_2_5 = "qwen2_5/1.5B"
MODELS = (*LLAMA_3_2, LLAMA_3_3_70B, QWEN_2_5)
RUNTIME_SETTINGS = (
    "output_dir",
    "tokenizer.path",
    "tokenizer.merges_file",
    "checkpointer.checkpoint_dir",
)
"""Settings that the runtime makes and the job may not change."""


class TorchTune:
    """Active for jobs on a torch runtime whose command is `tune run`."""

    name = "TorchTune"
    order = 210

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """Refuse what TorchTune cannot run."""
        if not is_torchtune(workload):
            return
        runtime, settings = workload.job.spec.runtime_ref.name, workload.settings
        model, args = model_of(runtime), settings.args or []
        nodes = settings.num_nodes if settings.num_nodes is not None else 1
        name_path, nodes_path = ("spec", "runtimeRef", "name"), ("spec", "trainer", "numNodes")
        if model not in MODELS:
            detail = f"must have a supported pretrained model, invalid model configured: {model}"
            yield invalid(name_path, runtime, detail)
        if nodes > 1 and model != LLAMA_3_3_70B:
            yield invalid(nodes_path, nodes, f"must be 1 for {model} model")
        devices = Devices(nodes, settings.num_proc_per_node, gpus(workload.node_resources))
        if recipe_of(devices, args).suffix.startswith("_qlora"):
            yield from _qlora_errors(workload, model, devices)
        if nodes > 1 and (uses_lora(args) or uses_qlora(args)):
            detail = "LoRA fine-tuning is not supported for multi-node training in TorchTune"
            yield invalid(nodes_path, nodes, detail)
        for index, arg in enumerate(args):
            key = arg.split("=", 1)[0]
            if key in RUNTIME_SETTINGS:
                detail = (
                    f'must not set immutable config "{key}" in trainer args; '
                    "it is managed by the runtime"
                )
                yield invalid(("spec", "trainer", "args", index), arg, detail)

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Complete the command."""
        node, role = workload.node, workload.trainer
        if node is None or role is None or not is_torchtune(workload):
            return
        resources = workload.node_resources
        processes = workload.settings.num_proc_per_node
        if processes is None and not gpus(resources):
            processes = max(1, cpus(resources))
        devices = Devices(role.count, processes, gpus(resources))
        command = list(ENTRYPOINT)
        if devices.several:
            meeting = f"{workload.first_host}:{workload.network.port}"
            command.append(f"--rdzv_endpoint={meeting}")
        recipe = recipe_of(devices, workload.settings.args or [])
        model = model_of(workload.job.spec.runtime_ref.name)
        command += [recipe.name, "--config", model + recipe.suffix]
        node.data["command"] = command + _runtime_settings(workload)


@dataclass(frozen=True)
class Devices:
    """What a job runs on."""

    nodes: int
    processes: int | None
    """How many processes a node has; None leaves it to the number of GPUs."""
    gpus: int

    @property
    def single(self) -> bool:
        """One process on one node."""
        return self.nodes == 1 and (self.processes == 1 or self.gpus == 1)

    @property
    def several(self) -> bool:
        """More than one process, so that they have to meet."""
        return self.nodes > 1 or (self.gpus if self.processes is None else self.processes) > 1


@dataclass(frozen=True)
class Recipe:
    """A TorchTune recipe and what follows the model in the name of its config."""

    name: str
    suffix: str


def is_torchtune(workload: Workload) -> bool:
    """Whether the job is one for TorchTune."""
    return workload.ml_policy.torch is not None and workload.settings.command == ENTRYPOINT


def model_of(runtime: str) -> str:
    """`torchtune-llama3.2-1b` gives `llama3_2/1B`; a name of another form gives nothing."""
    parts = runtime.split("-")
    if len(parts) != 3:
        return ""
    return f"{parts[1].replace('.', '_')}/{parts[2].upper()}"


def recipe_of(devices: Devices, args: Sequence[str]) -> Recipe:
    """The recipe for these devices and arguments."""
    if devices.nodes > 1:
        return Recipe("full_finetune_distributed", "_full_multinode")
    where, tail = ("single_device", "_single_device") if devices.single else ("distributed", "")
    if uses_qlora(args):
        return Recipe(f"lora_finetune_{where}", f"_qlora{tail}")
    if uses_lora(args):
        return Recipe(f"lora_finetune_{where}", f"_lora{tail}")
    return Recipe(f"full_finetune_{where}", f"_full{tail}")


def uses_lora(args: Sequence[str]) -> bool:
    """Whether the arguments ask for LoRA."""
    return any("model.lora_attn_modules" in arg for arg in args)


def uses_qlora(args: Sequence[str]) -> bool:
    """Whether the arguments ask for QLoRA, which DoRA rules out."""
    return _is_on(args, "model.quantize_base") and not _is_on(args, "model.use_dora")


def _is_on(args: Sequence[str], key: str) -> bool:
    for arg in args:
        name, equals, value = arg.partition("=")
        if equals and key in name and value.strip().lower() == "true":
            return True
    return False


def _qlora_errors(workload: Workload, model: str, devices: Devices) -> Iterator[FieldError]:
    settings = workload.settings
    if model == QWEN_2_5:
        runtime = workload.job.spec.runtime_ref.name
        yield invalid(
            ("spec", "runtimeRef", "name"), runtime, f"QLoRA is not supported for {model} model"
        )
    if model in LLAMA_3_2 and not devices.single:
        processes = "auto" if settings.num_proc_per_node is None else settings.num_proc_per_node
        yield invalid(
            ("spec", "trainer", "numProcPerNode"),
            processes,
            f"must be auto or 1 for {model} model when using QLoRA",
        )
        yield invalid(
            ("spec", "trainer", "resourcesPerNode"),
            settings.resources_per_node,
            f"must have gpu resource with value 1 for {model} model when using QLoRA",
        )


def _runtime_settings(workload: Workload) -> list[str]:
    own = workload.template_container()
    return [arg for arg in own.command if arg.split("=")[0] in RUNTIME_SETTINGS] if own else []
