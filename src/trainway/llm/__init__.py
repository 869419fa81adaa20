"""Fine-tuning of language models: a thin program over TRL, PEFT, transformers and accelerate.

`python -m trainway.llm sft --config FILE` runs inside a job, in an environment that has those; it
is started there by `trainway finetune`, or by the runtimes `trl-sft` and `trl-dpo`. What can be
decided without torch is in modules of its own, which import nothing but Python: the configuration,
how much memory a training takes, which columns of a dataset mean what, and what TRL is asked for.
"""
