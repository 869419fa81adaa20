"""The models of a fine-tune: as it is before training, and as an adapter is merged into it."""

from typing import Any

from trainway.errors import UnreadableError
from trainway.llm import packed_attention, spread_loading
from trainway.llm.choices import VARLEN, Choices
from trainway.llm.configuration import Configuration, Method


def is_read_once(config: Configuration, choices: Choices) -> bool:
    """Whether the first process alone reads the weights, and hands each of the others its part."""
    is_spread = choices.parallel == "fsdp"
    return is_spread and spread_loading.is_read_once(config, _settings(choices))


def load_spread_model(config: Configuration, choices: Choices) -> Any:
    """The model, with its weights only in the first process."""
    from accelerate import PartialState  # noqa: PLC0415 - slow

    is_first = PartialState().is_main_process
    if is_first:
        model = load_model(config, choices)
    else:
        model = spread_loading.without_weights(config, _settings(choices))
    spread_loading.make_alike(model)
    return model


def load_model(config: Configuration, choices: Choices) -> Any:
    """The model as it is before training."""
    import torch  # noqa: PLC0415 - slow
    from accelerate import PartialState  # noqa: PLC0415 - as above
    from transformers import AutoConfig, AutoModelForCausalLM  # noqa: PLC0415 - as above

    settings = _settings(choices)
    device = PartialState().device
    if config.weights == "random":
        with device if choices.parallel != "fsdp" else torch.device("cpu"):
            return AutoModelForCausalLM.from_config(
                AutoConfig.from_pretrained(config.model), **settings
            )
    if config.method == Method.QLORA.value:
        from transformers import BitsAndBytesConfig  # noqa: PLC0415 - as above

        settings["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
    if choices.parallel != "fsdp" and device.type != "cpu":
        settings["device_map"] = {"": device}
    try:
        return AutoModelForCausalLM.from_pretrained(config.model, **settings)
    except (OSError, ValueError) as error:
        raise UnreadableError(
            f"model: {config.model} cannot be loaded: {first_line(error)}"
        ) from error


def _settings(choices: Choices) -> dict[str, Any]:
    import torch  # noqa: PLC0415 - slow

    attention = choices.attention
    return {
        "dtype": getattr(torch, choices.dtype),
        "attn_implementation": packed_attention.register() if attention == VARLEN else attention,
    }


def base_model(config: Configuration, choices: Choices) -> Any:
    """The model that an adapter was trained on, whole and in the type that it was trained in."""
    import torch  # noqa: PLC0415 - slow
    import transformers  # noqa: PLC0415 - as above

    if config.weights == "random":
        transformers.set_seed(config.seed)  # the same weights once more
        return load_model(config, choices)
    return transformers.AutoModelForCausalLM.from_pretrained(
        config.model, dtype=getattr(torch, choices.dtype)
    )


def first_line(error: BaseException) -> str:
    """What a library says is wrong, without its advice."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
