"""A LoRA fine-tune with transformers and peft, of a tiny Llama that is made on the spot.

    trainway run --procs-per-node 2 examples/lora_finetune.py

Nothing is downloaded: the model has random weights and a few kilobytes of text to learn by heart,
letter by letter. The transformers Trainer sees that it runs in a job, and reports progress, loss
and ETA by itself.
"""

import argparse
import os

import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import Dataset
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

TEXT = "a gang starts together or not at all, and a job that fails goes on from where it was. " * 40
LENGTH = 64


class Letters(Dataset):
    """Windows of the text; the vocabulary is the 256 values of a byte."""

    def __len__(self) -> int:
        return len(TEXT) - LENGTH

    def __getitem__(self, start: int) -> dict[str, torch.Tensor]:
        window = torch.tensor(list(TEXT[start : start + LENGTH].encode()))
        return {"input_ids": window, "labels": window}


class Losses(TrainerCallback):
    """A line for each loss, from one process, instead of a dictionary from each."""

    def on_log(self, args, state, control, logs=None, **_):
        if state.is_world_process_zero and "loss" in logs:
            print(
                f"step {state.global_step}/{state.max_steps} loss {float(logs['loss']):.4f}",
                flush=True,
            )


def tiny_llama() -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=LENGTH,
    )
    return LlamaForCausalLM(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--output-dir", default=os.environ.get("TRAINWAY_OUTPUT_DIR", "output"))
    parser.add_argument("--report-to", default="none", help="also report to tensorboard, wandb...")
    options = parser.parse_args()
    set_seed(1)

    adapter = LoraConfig(
        task_type="CAUSAL_LM",
        r=8,
        lora_alpha=16,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"],
        modules_to_save=["embed_tokens", "lm_head"],  # the base knows nothing yet
    )
    model = get_peft_model(tiny_llama(), adapter)
    trained, total = model.get_nb_trainable_parameters()

    gpu = torch.cuda.is_available()
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=options.output_dir,
            max_steps=options.steps,
            per_device_train_batch_size=16,
            learning_rate=1e-2,
            logging_steps=10,
            report_to=options.report_to,
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=not gpu,
            ddp_backend="nccl" if gpu else "gloo",
            ddp_find_unused_parameters=False,
            dataloader_pin_memory=gpu,
        ),
        train_dataset=Letters(),
        callbacks=[Losses()],
    )
    trainer.remove_callback(PrinterCallback)
    if trainer.is_world_process_zero():
        processes = trainer.args.world_size
        print(f"training {trained} of {total} parameters, processes {processes}", flush=True)
    trainer.train()
    if trainer.is_world_process_zero():
        model.save_pretrained(options.output_dir)
        print(f"checkpoint {options.output_dir}", flush=True)
    trainer.accelerator.end_training()  # a process that just exits may abort in its gloo threads


if __name__ == "__main__":
    main()
