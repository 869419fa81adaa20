"""The weights of a model that is spread over processes, read by the first one of all alone.

The others have memory of the same shape, until accelerate hands each process its part. Linux gives
that memory only to who writes there, so a node holds the model once, and not once for each GPU.
"""

from typing import Any

from trainway.llm.configuration import Configuration


def is_read_once(config: Configuration, settings: dict[str, Any]) -> bool:
    """Whether accelerate can hand out all of it; where it cannot, each process reads everything.

    It does not hand out buffers that are saved with the weights. Some models cannot be made without
    weights. All processes come to the same answer.
    """
    if getattr(_description(config), "quantization_config", None) is not None:
        return False
    try:
        modules = list(shapes(config, settings).modules())
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        return False
    kept = [each._buffers.keys() - each._non_persistent_buffers_set for each in modules]  # noqa: SLF001 - torch's
    return not any(kept)


def shapes(config: Configuration, settings: dict[str, Any]) -> Any:
    """The model without memory for its weights; no random number is used up for it."""
    import torch  # noqa: PLC0415 - slow
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - as above

    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        return AutoModelForCausalLM.from_config(_description(config), **settings)


def without_weights(config: Configuration, settings: dict[str, Any]) -> Any:
    """The model with memory for its weights in which nothing was written.

    Accelerate tells weights by their addresses, which shapes alone do not have.
    """
    model = shapes(config, settings).to_empty(device="cpu")
    model.tie_weights()
    return model


def make_alike(model: Any) -> None:
    """Give all processes what the first one has computed and nobody saves, such as frequencies.

    Some weights are kept in 32 bits when they are read, whatever is asked for; so types are told.
    """
    import torch  # noqa: PLC0415 - slow
    from accelerate import PartialState  # noqa: PLC0415 - as above
    from accelerate.utils import broadcast_object_list  # noqa: PLC0415 - as above

    told: list[Any] = [
        dict(model.named_buffers()),
        {name: weight.dtype for name, weight in model.named_parameters()},
    ]
    broadcast_object_list(told)
    if PartialState().is_main_process:
        return
    buffers, types = told
    for name, value in buffers.items():
        module, _, last = name.rpartition(".")
        setattr(model.get_submodule(module), last, value)
    for name, weight in model.named_parameters():
        if weight.dtype != types[name]:
            weight.data = torch.empty_like(weight, dtype=types[name])


def _description(config: Configuration) -> Any:
    from transformers import AutoConfig  # noqa: PLC0415 - slow

    return AutoConfig.from_pretrained(config.model)
