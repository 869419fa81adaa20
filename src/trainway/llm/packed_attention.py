"""Attention for packed rows: each example sees itself alone, and no mask is made.

Several examples lie in one long row. A mask that keeps them apart would grow with the square of the
row, so here the row is told by where its examples begin: torch's kernel for sequences of different
lengths on a GPU (`torch.nn.attention.varlen`, torch 2.10 or newer), and one example after the other
elsewhere. A kernel is used only after it has given on this GPU what the plain way gives.
"""

from __future__ import annotations

from functools import cache
from inspect import signature
from itertools import pairwise
from typing import Any, Final

from trainway.errors import UsageError

NAME: Final = "trainway_varlen"
"""What transformers knows it by."""
FAMILIES: Final = frozenset({"llama", "mistral", "olmo2", "qwen2", "qwen3"})
"""Models that were compared with and without packing; others keep to what they had."""
_ALIEN: Final = ("softcap", "position_bias", "s_aux")
"""What some models add to attention, and this one does not know."""
_PROBE: Final = (0, 3, 10, 16, 160)
_TOLERANCE: Final = 0.02
"""How far a kernel may be from the plain way, as a part of what that gives: both round."""


def register() -> str:
    """Make transformers know it; the name to ask for."""
    from transformers import AttentionInterface, AttentionMaskInterface  # noqa: PLC0415 - slow

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, lambda *_args, **_words: None)
    return NAME


def attend(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    dropout: float = 0.0,
    scaling: float | None = None,
    **words: Any,
) -> tuple[Any, None]:
    """Attention as a layer of transformers asks for it; the batch is one row of examples."""
    starts = words.get("cu_seq_lens_q")
    odd = [name for name in _ALIEN if words.get(name) is not None]
    if starts is None or attention_mask is not None or query.shape[0] != 1 or odd:
        raise UsageError(
            f"attention: varlen does not fit {type(module).__name__}"
            + (f", which uses {odd[0]}" if odd else ""),
            field="attention",
            hint="use attention=sdpa",
        )
    window = words.get("sliding_window")
    query, key, value = _in_one_type(query, key, value)
    kernel = None if dropout else kernel_for(query.device.type, query.dtype)
    if kernel is None:
        mixed = _each(query, key, value, starts, scaling, window, dropout)
    else:
        longest = int(words["max_length_q"])
        mixed = kernel(query, key, value, starts, longest, scaling, window)
    return mixed, None


def _in_one_type(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """What autocast would make of them for torch's own attention: rotation widens two of three."""
    import torch  # noqa: PLC0415 - slow

    kind = query.device.type
    is_mixed = torch.is_autocast_enabled(kind)
    wanted = torch.get_autocast_dtype(kind) if is_mixed else value.dtype
    return query.to(wanted), key.to(wanted), value.to(wanted)


def _each(
    query: Any, key: Any, value: Any, starts: Any, scale: float | None, window: int | None,
    dropout: float = 0.0,
) -> Any:  # fmt: skip
    """One example after the other, with torch's plain attention."""
    import torch  # noqa: PLC0415 - slow

    groups = query.shape[1] // key.shape[1]
    key, value = (each.repeat_interleave(groups, 1) for each in (key, value))
    bounds = starts.tolist()
    parts = []
    for first, end in pairwise(bounds):
        near = None
        if window and end - first > window:
            at = torch.arange(end - first, device=query.device)
            ahead = at[:, None] - at[None, :]
            near = (ahead >= 0) & (ahead < window)
        parts.append(
            torch.nn.functional.scaled_dot_product_attention(
                *(each[:, :, first:end] for each in (query, key, value)),
                attn_mask=near, is_causal=near is None, scale=scale, dropout_p=dropout,
            )
        )  # fmt: skip
    return torch.cat(parts, 2).transpose(1, 2).contiguous()


@cache
def kernel_for(device: str, dtype: Any) -> Any:
    """The kernel that is right here, tried once; None: there is none."""
    import torch  # noqa: PLC0415 - slow

    if device != "cuda" or dtype not in (torch.bfloat16, torch.float16):
        return None
    for is_grouped in (True, False):
        kernel = _kernel(is_grouped=is_grouped)
        if kernel is not None and _is_right(kernel, dtype):
            return kernel
    return None


def _kernel(*, is_grouped: bool) -> Any:
    """Torch's kernel, as the version that is installed wants to be called.

    Its arguments changed from version to version; what it cannot be told is done to its inputs.
    Not all versions say whether keys may have fewer heads than queries: the caller tries it.
    """
    try:
        from torch.nn.attention.varlen import varlen_attn  # noqa: PLC0415 - not everywhere
    except ImportError:
        return None
    known = signature(varlen_attn).parameters

    def call(
        query: Any, key: Any, value: Any, starts: Any, longest: int, scale: float | None,
        window: int | None,
    ) -> Any:  # fmt: skip
        words: dict[str, Any] = {}
        if "window_size" in known:
            words["window_size"] = (window - 1 if window and window < longest else -1, 0)
        elif window and window < longest:
            return _each(query, key, value, starts, scale, window)
        else:
            words["is_causal"] = True
        if scale is not None and "scale" in known:
            words["scale"] = scale
        elif scale is not None:
            query = query * (scale * query.shape[-1] ** 0.5)
        if not is_grouped:
            groups = query.shape[1] // key.shape[1]
            key, value = (each.repeat_interleave(groups, 1) for each in (key, value))
        elif "enable_gqa" in known:
            words["enable_gqa"] = True
        rows = [each[0].transpose(0, 1) for each in (query, key, value)]
        return varlen_attn(*rows, starts, starts, longest, longest, **words)[None]

    return call


def _is_right(kernel: Any, dtype: Any) -> bool:
    """Whether it gives what the plain way gives, forth and back, with and without a window."""
    import torch  # noqa: PLC0415 - slow

    with torch.random.fork_rng(devices=[torch.cuda.current_device()]), torch.enable_grad():
        made = {"device": "cuda", "dtype": dtype, "requires_grad": True}
        shapes = [(1, heads, _PROBE[-1], 64) for heads in (4, 2, 2)]
        inputs = [torch.randn(shape, **made) for shape in shapes]
        starts = torch.tensor(_PROBE, dtype=torch.int32, device="cuda")
        longest = max(end - first for first, end in pairwise(_PROBE))
        for window in (None, 5):
            try:
                found = _results(kernel(*inputs, starts, longest, 0.2, window), inputs)
            except (RuntimeError, TypeError, ValueError, NotImplementedError):
                return False
            query, key, value = inputs
            plain = _results(_each(query, key, value, starts, 0.2, window), inputs)
            for one, other in zip(found, plain, strict=True):
                if not (one - other).float().norm() <= _TOLERANCE * other.float().norm():
                    return False
    return True


def _results(mixed: Any, inputs: list[Any]) -> list[Any]:
    """What came out, and how each input is to change."""
    import torch  # noqa: PLC0415 - slow

    return [mixed.detach(), *torch.autograd.grad(mixed.float().square().sum(), inputs)]
