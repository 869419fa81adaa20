"""How a fine-tune is carried out on the machine that it finds: what TRL is asked for. Pure.

The defaults are those that are fast where they are safe: sequences are packed, activations are kept
where they fit, weights are spread over GPUs by FSDP2, and whatever cannot fit is refused.
"""

from dataclasses import dataclass
from math import isqrt
from typing import Any, Final

from trainway.errors import UsageError
from trainway.llm import memory
from trainway.llm.configuration import Configuration, Method, Task
from trainway.llm.packed_attention import FAMILIES

_FLASH: Final = "flash_attention_2"
VARLEN: Final = "varlen"
"""Attention for packed rows that needs no mask: packed_attention.py."""
_MOST_TOKENS: Final = 16_384
"""Tokens at once beyond which a GPU does not get faster."""
_RATES: Final = {
    (Task.SFT, Method.FULL): 1e-5,
    (Task.SFT, Method.LORA): 2e-4,
    (Task.DPO, Method.FULL): 1e-6,
    (Task.DPO, Method.LORA): 1e-5,
}


@dataclass(frozen=True)
class Machine:
    """What a process finds where it runs."""

    processes: int = 1
    gpu_memory: int | None = None
    """Bytes of the GPU of this process; None: there is none."""
    has_bf16: bool = False
    installed: frozenset[str] = frozenset()
    """Which of the optional libraries there are, and `varlen` if torch has a kernel for it."""


@dataclass(frozen=True)
class Choices:
    """What was decided."""

    attention: str
    packing: bool
    micro_batch: int
    checkpointing: bool
    parallel: str
    """`none`, `ddp` or `fsdp`."""
    dtype: str
    """Of the weights as they are loaded."""
    computes_in_bf16: bool
    shape: memory.Shape | None = None
    plan: memory.Plan | None = None


def choose(
    task: Task,
    config: Configuration,
    machine: Machine,
    shape: memory.Shape | None,
    family: str = "",
) -> Choices:
    """Decide; a UsageError says what cannot be done here, or what does not fit.

    The family is what the configuration of the model calls its type.
    """
    method = Method(config.method)
    _check_libraries(config, machine)
    on_gpu = machine.gpu_memory is not None
    packing = task is Task.SFT if config.packing is None else config.packing
    if packing and task is Task.DPO:
        raise _wrong("packing", "DPO compares pairs, which cannot be packed", "leave it out")
    parallel = _parallel(config, machine)
    bf16 = on_gpu and machine.has_bf16 and config.dtype != "float32"
    has_varlen = not on_gpu or (bf16 and VARLEN in machine.installed)
    attention = config.attention
    if attention == "auto":
        attention = _attention(machine, has_varlen=has_varlen and packing and family in FAMILIES)
    if attention == VARLEN:
        _check_varlen(has_varlen=has_varlen, packing=packing)
    is_half = config.dtype == "bfloat16" or (method is not Method.FULL and bf16)
    plan = memory.Plan(
        method,
        config.max_length,
        config.micro_batch or config.batch_size,
        machine.processes if parallel == "fsdp" else 1,
        # FSDP2 keeps what it trains in 32 bits, and the rest as it is loaded
        not is_half or (parallel == "fsdp" and method is Method.FULL),
        config.checkpointing is not False,
        config.lora_rank,
        2 if task is Task.DPO else 1,
        task is Task.DPO and method is Method.FULL,
    )
    is_dense = packing and attention != VARLEN and not _is_flash(attention)
    plan = _fitted(plan, config, machine, shape, is_dense=is_dense)
    return Choices(
        attention,
        packing,
        plan.batch,
        plan.checkpointing,
        parallel,
        "bfloat16" if is_half else "float32",
        bf16,
        shape,
        plan,
    )


def _check_libraries(config: Configuration, machine: Machine) -> None:
    if config.method == Method.QLORA.value:
        if "bitsandbytes" not in machine.installed:
            raise _wrong(
                "method",
                "qlora needs the library bitsandbytes, which is not installed where the job runs",
                "add --packages bitsandbytes, or use method=lora",
            )
        if machine.gpu_memory is None:
            raise _wrong("method", "qlora needs a GPU, and there is none", "use method=lora")
        if config.parallel == "fsdp":
            raise _wrong(
                "parallel",
                "weights in 4 bits are not spread over GPUs; each has all of them",
                "leave it out, or use method=lora",
            )
    if config.liger and "liger_kernel" not in machine.installed:
        raise _wrong("liger", "liger-kernel is not installed where the job runs", "liger=false")
    if _is_flash(config.attention) and not machine.installed & {"flash_attn", "kernels"}:
        raise _wrong("attention", f"{config.attention} is not installed there", "use sdpa")


def _attention(machine: Machine, *, has_varlen: bool) -> str:
    if machine.gpu_memory is not None and "flash_attn" in machine.installed:
        return _FLASH
    return VARLEN if has_varlen else "sdpa"


def _check_varlen(*, has_varlen: bool, packing: bool) -> None:
    if not packing:
        raise _wrong("attention", "varlen is for packed sequences", "use sdpa, or packing=true")
    if not has_varlen:
        raise _wrong(
            "attention",
            "varlen needs torch 2.10 or newer, and a GPU that computes in bfloat16",
            "use sdpa",
        )


def _parallel(config: Configuration, machine: Machine) -> str:
    if machine.processes == 1:
        return "none"
    if config.parallel == "fsdp" and machine.gpu_memory is None:
        raise _wrong("parallel", "weights are spread over GPUs only, and there is none", "use ddp")
    if config.parallel != "auto":
        return config.parallel
    spread = machine.gpu_memory is not None and config.method != Method.QLORA.value
    return "fsdp" if spread else "ddp"


def _fitted(
    plan: memory.Plan,
    config: Configuration,
    machine: Machine,
    shape: memory.Shape | None,
    *,
    is_dense: bool,
) -> memory.Plan:
    """The plan that is fastest of those that fit."""
    from dataclasses import replace  # noqa: PLC0415 - beside what it is used for

    if config.micro_batch and config.batch_size % config.micro_batch:
        raise _wrong(
            "micro_batch",
            f"it is {config.micro_batch}, and batch_size is {config.batch_size}",
            "batch_size must be a multiple of it",
        )
    if machine.gpu_memory is None:
        return replace(plan, checkpointing=bool(config.checkpointing))
    limit = int(config.memory_gib * memory.GIB) if config.memory_gib else machine.gpu_memory
    sizes = [config.micro_batch] if config.micro_batch else _divisors(config.batch_size)
    if config.micro_batch is None:  # a mask for several packed rows would grow with their square
        most = 1 if is_dense else max(1, _MOST_TOKENS // (plan.length * plan.copies))
        sizes = [size for size in sizes if size <= most]
    kept = [False, True] if config.checkpointing is None else [config.checkpointing]
    plans = [replace(plan, checkpointing=twice, batch=size) for twice in kept for size in sizes]
    if shape is None:
        return plans[-1]
    fitting = [each for each in plans if memory.fits(shape, each, limit)]
    if not fitting:
        memory.check(shape, plans[-1], limit, machine.processes)
    return fitting[0]


def _divisors(number: int) -> list[int]:
    """From the largest on."""
    small = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    return sorted({*small, *(number // each for each in small)}, reverse=True)


def _is_flash(attention: str) -> bool:
    return attention.startswith("flash_attention")


def arguments(
    task: Task, config: Configuration, choices: Choices, machine: Machine
) -> dict[str, Any]:
    """The arguments of TRL's SFTConfig or DPOConfig, but for where to write."""
    method = Method.LORA if config.method == Method.QLORA.value else Method(config.method)
    on_gpu = machine.gpu_memory is not None
    given: dict[str, Any] = {
        "per_device_train_batch_size": choices.micro_batch,
        "gradient_accumulation_steps": config.batch_size // choices.micro_batch,
        "num_train_epochs": config.epochs,
        "max_steps": config.max_steps or -1,
        "learning_rate": config.learning_rate or _RATES[task, method],
        "lr_scheduler_type": config.scheduler,
        "warmup_steps": config.warmup,
        "weight_decay": config.weight_decay,
        "max_length": config.max_length,
        "bf16": choices.computes_in_bf16,
        "gradient_checkpointing": choices.checkpointing,
        "optim": "adamw_torch_fused",
        "torch_compile": config.compile,
        "use_liger_kernel": config.liger,
        "seed": config.seed,
        "data_seed": config.seed,
        "logging_steps": config.logging_steps,
        "logging_nan_inf_filter": False,
        "save_strategy": "steps",
        "save_steps": config.save_steps or 0.1,
        "save_total_limit": max(2, config.keep_checkpoints or 2),  # one may be half written
        "report_to": "none",
        "disable_tqdm": True,
        "use_cpu": not on_gpu,
        "dataloader_pin_memory": on_gpu,
    }
    if task is Task.SFT:
        given |= {"packing": choices.packing}
    else:
        given |= {"beta": config.beta}
    if choices.parallel == "ddp":
        given |= {"ddp_backend": "nccl" if on_gpu else "gloo", "ddp_find_unused_parameters": False}
    if choices.parallel == "fsdp":
        given |= _fsdp(choices)
    return given


def _fsdp(choices: Choices) -> dict[str, Any]:
    """FSDP2; it computes activations twice by itself, not the model."""
    return {
        "fsdp": True,
        "fsdp_config": {
            "version": 2,
            "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "reshard_after_forward": True,
            "state_dict_type": "FULL_STATE_DICT",
            "activation_checkpointing": choices.checkpointing,
            "cpu_ram_efficient_loading": False,
        },
        "gradient_checkpointing": False,
    }


def summary(task: Task, config: Configuration, choices: Choices, machine: Machine) -> str:
    """One line for the log: how it is trained."""
    spread = {"none": "", "ddp": ", a copy in each (DDP)", "fsdp": ", spread over all (FSDP2)"}
    steps = config.batch_size // choices.micro_batch
    words = [
        f"{task.value} with {config.method}",
        f"{machine.processes} process{'es' if machine.processes > 1 else ''}"
        + spread[choices.parallel],
        f"weights in {choices.dtype}"
        + (", computed in bfloat16" if choices.computes_in_bf16 else ""),
        f"{choices.micro_batch} x {steps} sequences of {config.max_length} tokens"
        + (", packed" if choices.packing else ""),
        f"attention {choices.attention}",
        "activations computed twice" if choices.checkpointing else "activations kept",
    ]
    if choices.shape and choices.plan and machine.gpu_memory:
        needed = memory.total(memory.estimate(choices.shape, choices.plan)) / memory.GIB
        words.append(f"about {needed:.0f} of {machine.gpu_memory / memory.GIB:.0f} GiB of a GPU")
    return "; ".join(words)


def _wrong(name: str, what: str, hint: str) -> UsageError:
    return UsageError(f"{name}: {what}", field=name, hint=hint)
