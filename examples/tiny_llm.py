"""Makes a tiny language model with its tokenizer, and data for it, without any network.

    python examples/tiny_llm.py /tmp/tiny
    trainway finetune /tmp/tiny/model /tmp/tiny/data

The weights are random, so the model knows nothing before it is tuned; everything else about it is
as in a model of the hub. It needs torch and transformers.
"""

import argparse
import json
from pathlib import Path

SHAPE = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
SPECIAL = ["<pad>", "<s>", "</s>"]
TEMPLATE = (
    "{% for message in messages %}<s>{{ message.role }}: {{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)


def make_tokenizer(folder: Path) -> int:
    """A tokenizer of bytes, with a chat template; gives the size of its vocabulary."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*SPECIAL, *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    made.chat_template = TEMPLATE
    made.save_pretrained(str(folder))
    return len(vocabulary)


def make_configuration(folder: Path, vocabulary: int, shape: dict[str, int]) -> None:
    """The configuration of a model of Qwen's kind."""
    from transformers import Qwen2Config

    config = Qwen2Config(vocab_size=vocabulary, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    for name, value in shape.items():
        setattr(config, name, value)
    config.architectures = ["Qwen2ForCausalLM"]
    config.layer_types = ["full_attention"] * config.num_hidden_layers
    config.save_pretrained(str(folder))


def make_weights(folder: Path) -> None:
    """Random weights, always the same."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(str(folder)))
    model.save_pretrained(str(folder))


def make_data(folder: Path, rows: int) -> None:
    """Questions and answers of a times table, and pairs of a right and a wrong answer."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = [(row % 9 + 1, row // 9 % 9 + 1) for row in range(rows)]
    tuned = [
        {"prompt": f"{left} times {right} is ", "completion": str(left * right)}
        for left, right in asked
    ]
    with (folder / "train.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in tuned)
    pairs = folder.with_name(f"{folder.name}-pairs")
    pairs.mkdir(exist_ok=True)
    with (pairs / "train.jsonl").open("w") as file:
        for row in tuned:
            pair = {"prompt": row["prompt"], "chosen": row["completion"], "rejected": "unknown"}
            file.write(json.dumps(pair) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=162)
    options = parser.parse_args()
    model = options.folder / "model"
    make_configuration(model, make_tokenizer(model), SHAPE)
    make_weights(model)
    make_data(options.folder / "data", options.rows)
    print(f"made {model}, {options.folder / 'data'} and {options.folder / 'data-pairs'}")


if __name__ == "__main__":
    main()
