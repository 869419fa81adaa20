from typing import Any

import pytest

from trainway.compiler.compile import Input, Options, compile_objects
from trainway.jobset.labels import PACKAGES
from trainway.runtimes import builtin_runtime
from trainway.sdk.kubeflow import (
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    DataCacheInitializer,
    DataFormat,
    DataType,
    HuggingFaceDatasetInitializer,
    HuggingFaceModelInitializer,
    Initializer,
    LoraConfig,
    Loss,
    S3DatasetInitializer,
    S3ModelInitializer,
    TorchTuneConfig,
    TorchTuneInstructDataset,
    TRLConfig,
)
from trainway.sdk.kubeflow.options import (
    ActiveDeadlineSeconds,
    Annotations,
    ContainerPatch,
    JobSetSpecPatch,
    JobSetTemplatePatch,
    JobSpecPatch,
    JobTemplatePatch,
    Labels,
    Option,
    PodSpecPatch,
    PodTemplatePatch,
    ReplicatedJobPatch,
    RuntimePatch,
    TrainerArgs,
    TrainerCommand,
    TrainingRuntimeSpecPatch,
)
from trainway.sdk.kubeflow.requests import resources_per_node, train_job
from trainway.sdk.kubeflow.types.types import Trainer
from trainway.sdk.kubeflow.views import runtime_of


def train() -> None:
    pass


def built(
    runtime: str = "torch-distributed",
    trainer: Trainer | None = None,
    initializer: Initializer | None = None,
) -> dict[str, Any]:
    manifest = builtin_runtime(runtime)
    assert manifest is not None
    return train_job("a", runtime_of(manifest), manifest, trainer, initializer)


def is_valid(job: dict[str, Any]) -> bool:
    options = Options(builtin_runtime=builtin_runtime)
    return not compile_objects([Input(job, "test")], options).errors


def test_nothing_said_is_nothing_sent() -> None:
    job = built()
    assert job["spec"] == {
        "runtimeRef": {"name": "torch-distributed", "kind": "ClusterTrainingRuntime"}
    }
    assert is_valid(job)


def test_a_function_with_all_there_is() -> None:
    trainer = CustomTrainer(
        train, image="i", num_nodes=2, resources_per_node={"cpu": 1, "GPU": 2}, env={"A": "1"},
        packages_to_install=["numpy"], pip_index_urls=["http://index"],
    )  # fmt: skip
    job = built(trainer=trainer)
    spec = job["spec"]["trainer"]
    assert spec["resourcesPerNode"] == {
        "requests": {"cpu": 1, "nvidia.com/gpu": 2},
        "limits": {"cpu": 1, "nvidia.com/gpu": 2},
    }
    assert (spec["image"], spec["env"]) == ("i", [{"name": "A", "value": "1"}])
    assert job["metadata"]["annotations"] == {PACKAGES: "--index-url http://index\nnumpy"}
    assert spec["command"].index("torch.distributed.run") == 2
    assert '"packages": []' in spec["args"][0]


def test_the_trials_of_a_search_install_their_packages_themselves() -> None:
    trainer = CustomTrainer(train, packages_to_install=["numpy"], pip_index_urls=["http://index"])
    manifest = builtin_runtime("torch-distributed")
    assert manifest is not None
    job = train_job("a", runtime_of(manifest), manifest, trainer, None, installs=True)
    spec = job["spec"]["trainer"]
    head = '"packages": ["numpy"], "index_urls": ["http://index"]'
    assert head in spec["args"][0]
    torchrun = spec["command"].index("torch.distributed.run")
    assert any(head in word for word in spec["command"][:torchrun])
    assert job["metadata"] == {"name": "a"}
    assert is_valid(job)


def test_a_function_must_be_one() -> None:
    name: Any = "train"
    with pytest.raises(ValueError, match="func must be a function, not a str"):
        built(trainer=CustomTrainer(name))


def test_a_container_with_all_there_is() -> None:
    job = built(trainer=CustomTrainerContainer("i", 2, {"memory": "1Gi"}, {"A": "1"}))
    assert "command" not in job["spec"]["trainer"]
    assert is_valid(job)


def test_torchtune_with_all_there_is() -> None:
    config = TorchTuneConfig(
        dtype=DataType.BF16,
        batch_size=8,
        epochs=1,
        loss=Loss.CEWithChunkedOutputLoss,
        num_nodes=1,
        peft_config=LoraConfig(apply_lora_to_mlp=True, lora_rank=4, lora_dropout=0.1),
        dataset_preprocess_config=TorchTuneInstructDataset(
            DataFormat.PARQUET, "train", True, "be kind", {"input": "q"}
        ),
        resources_per_node={"gpu": 2},
    )
    initializer = Initializer(HuggingFaceDatasetInitializer("hf://owner/name/data"))
    job = built("torchtune-llama3.2-1b", BuiltinTrainer(config), initializer)
    assert job["spec"]["trainer"]["command"] == ["tune", "run"]
    assert job["spec"]["trainer"]["args"] == [
        "dtype=bf16",
        "batch_size=8",
        "epochs=1",
        "loss=torchtune.modules.loss.CEWithChunkedOutputLoss",
        "dataset.data_dir=/workspace/dataset/data",
        "model.apply_lora_to_mlp=True",
        "model.lora_rank=4",
        "model.lora_dropout=0.1",
        "model.lora_attn_modules=[q_proj,v_proj,output_proj]",
        "dataset=torchtune.datasets.instruct_dataset",
        "dataset.source=parquet",
        "dataset.split=train",
        "dataset.train_on_input=True",
        "dataset.new_system_prompt=be kind",
        "dataset.column_map={'input': 'q'}",
    ]
    assert is_valid(job)


@pytest.mark.parametrize(
    ("uri", "argument"),
    [
        ("hf://a/b", "dataset.data_dir=/workspace/dataset/."),
        ("a/b", "dataset.data_dir=/workspace/dataset/."),
        ("hf://a/b/c/d.parquet", "dataset.data_files=/workspace/dataset/c/d.parquet"),
        ("hf://datasets/a/b/c", "dataset.data_dir=/workspace/dataset/c"),
        ("hf://datasets/a/b@v1/c/d.parquet", "dataset.data_files=/workspace/dataset/c/d.parquet"),
        ("hf://datasets/a/b", "dataset.data_dir=/workspace/dataset/."),
        ("HF://a/b/c/", "dataset.data_dir=/workspace/dataset/c"),
        ("hf://squad", "dataset.data_dir=/workspace/dataset/."),
    ],
)
def test_a_dataset_lies_below_its_name(uri: str, argument: str) -> None:
    initializer = Initializer(HuggingFaceDatasetInitializer(uri))
    job = built("torchtune-llama3.2-1b", BuiltinTrainer(TorchTuneConfig()), initializer)
    assert job["spec"]["trainer"]["args"] == [argument]


def test_another_configuration_is_refused() -> None:
    text: Any = "x"
    with pytest.raises(ValueError, match="a str is not a configuration"):
        built("torchtune-llama3.2-1b", BuiltinTrainer(text))


def env(source: dict[str, Any]) -> dict[str, str]:
    return {item["name"]: item["value"] for item in source["env"]}


def test_initializers_become_variables() -> None:
    dataset = S3DatasetInitializer("s3://b/d", ["*.a", "*.b"], endpoint="http://e", region="r")
    model = HuggingFaceModelInitializer("hf://m", access_token="t")  # noqa: S106 - no secret
    spec = built(initializer=Initializer(dataset, model))["spec"]["initializer"]
    assert spec["dataset"]["storageUri"] == "s3://b/d"
    assert env(spec["dataset"]) == {
        "IGNORE_PATTERNS": "*.a,*.b", "ENDPOINT": "http://e", "REGION": "r"
    }  # fmt: skip
    assert env(spec["model"]) == {
        "IGNORE_PATTERNS": "*.msgpack,*.h5,*.bin,*.pt,*.pth", "ACCESS_TOKEN": "t"
    }  # fmt: skip


def test_a_cache_is_one_larger_than_its_nodes() -> None:
    dataset = DataCacheInitializer("cache://schema/table", "s3://m", 3, head_cpu="2")
    spec = built(initializer=Initializer(dataset))["spec"]["initializer"]
    assert "model" not in spec
    assert env(spec["dataset"]) == {"CLUSTER_SIZE": "4", "METADATA_LOC": "s3://m", "HEAD_CPU": "2"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: S3DatasetInitializer("hf://x"),
        lambda: S3ModelInitializer("x"),
        lambda: DataCacheInitializer("cache://a/b", "m", 1),
        lambda: DataCacheInitializer("s3://a/b", "m", 2),
        lambda: DataCacheInitializer("cache://a", "m", 2),
        lambda: ActiveDeadlineSeconds(0),
        lambda: ActiveDeadlineSeconds(True),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(make: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        make()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"CPU": 1, "storage": "1Gi"}, {"cpu": 1, "ephemeral-storage": "1Gi"}),
        ({"mig-1g.5gb": 1}, {"nvidia.com/mig-1g.5gb": 1}),
        ({"example.com/Custom-NPU": 1}, {"example.com/Custom-NPU": 1}),
    ],
)
def test_resources_get_their_names(given: dict[str, Any], named: dict[str, Any]) -> None:
    assert resources_per_node(given) == named


@pytest.mark.parametrize("given", [{"mig-a": 1, "mig-b": 1}, {"mig-a": 1, "gpu": 1}])
def test_devices_that_exclude_each_other_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="can be asked for"):
        resources_per_node(given)


def with_options(*options: Option, trainer: Trainer | None = None) -> dict[str, Any]:
    job = built(trainer=trainer)
    for option in options:
        option(job, trainer, None)
    return job


def test_options_change_the_job() -> None:
    patch = RuntimePatch(
        TrainingRuntimeSpecPatch(
            JobSetTemplatePatch(
                {"labels": {"a": "b"}},
                JobSetSpecPatch(
                    [
                        ReplicatedJobPatch(
                            "node",
                            JobTemplatePatch(
                                spec=JobSpecPatch(
                                    PodTemplatePatch(
                                        spec=PodSpecPatch(
                                            node_selector={"x": "y"},
                                            containers=[
                                                ContainerPatch(
                                                    "node", security_context={"runAsUser": 1}
                                                )
                                            ],
                                            tolerations=[],
                                        )
                                    )
                                )
                            ),
                        )
                    ]
                ),
            )
        )
    )
    job = with_options(Annotations({"c": "d"}), ActiveDeadlineSeconds(5), patch)
    assert job["metadata"]["annotations"] == {"c": "d"}
    assert job["spec"]["activeDeadlineSeconds"] == 5
    (made,) = job["spec"]["runtimePatches"]
    assert made["manager"] == "trainer.kubeflow.org/kubeflow-sdk"
    (role,) = made["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert role["template"]["spec"]["template"]["spec"] == {
        "nodeSelector": {"x": "y"},
        "containers": [{"name": "node", "securityContext": {"runAsUser": 1}}],
    }
    assert is_valid(job)


def test_options_keep_what_the_job_says_by_itself() -> None:
    job = with_options(
        Annotations({"c": "d"}),
        Labels({"a": "b"}),
        trainer=CustomTrainer(train, packages_to_install=["six"]),
    )
    assert job["metadata"]["annotations"] == {"trainway.dev/packages": "six", "c": "d"}
    tuned = built("trl-dpo", BuiltinTrainer(TRLConfig("/m", "/d")))
    Labels({"a": "b"})(tuned, None, None)
    assert tuned["metadata"]["labels"] == {"trainway.dev/finetune": "dpo", "a": "b"}


def test_a_container_takes_a_command() -> None:
    job = with_options(
        TrainerCommand(["a"]), TrainerArgs(["b"]), trainer=CustomTrainerContainer("i")
    )
    assert job["spec"]["trainer"] == {"image": "i", "command": ["a"], "args": ["b"]}
    assert with_options(TrainerArgs(["b"]))["spec"]["trainer"] == {"args": ["b"]}


@pytest.mark.parametrize("option", [TrainerCommand(["a"]), TrainerArgs(["a"])])
def test_a_function_takes_no_command(option: Option) -> None:
    with pytest.raises(ValueError, match="is for a CustomTrainerContainer"):
        with_options(option, trainer=CustomTrainer(train))


def test_trl_has_its_settings_as_words() -> None:
    config = TRLConfig("/m", "/d", "full", 2, {"gpu": 8}, {"beta": 0.2})
    trainer = built("trl-dpo", BuiltinTrainer(config))["spec"]["trainer"]
    assert trainer["args"] == ["method=full", "beta=0.2", "model=/m", "dataset=/d"]
    assert trainer["command"][-3:] == ["-m", "trainway.llm.launcher", "dpo"]
    assert trainer["numNodes"] == 2


def test_trl_reads_what_the_initializer_fetches() -> None:
    fetched = Initializer(
        HuggingFaceDatasetInitializer("hf://org/data"),
        HuggingFaceModelInitializer("hf://org/model"),
    )
    job = built("trl-sft", BuiltinTrainer(TRLConfig()), fetched)
    words = ["method=lora", "model=/workspace/model", "dataset=/workspace/dataset"]
    assert job["spec"]["trainer"]["args"] == words
    assert env(job["spec"]["trainer"]) == {
        "TRAINWAY_MODEL_NAME": "org/model", "TRAINWAY_DATASET_NAME": "org/data"
    }  # fmt: skip


def test_trl_reads_the_part_that_the_uri_names() -> None:
    fetched = Initializer(
        HuggingFaceDatasetInitializer("hf://org/data/part/a.jsonl"),
        HuggingFaceModelInitializer("hf://org/model/small"),
    )
    job = built("trl-sft", BuiltinTrainer(TRLConfig()), fetched)
    assert job["spec"]["trainer"]["args"] == [
        "method=lora",
        "model=/workspace/model/small",
        "dataset=/workspace/dataset/part/a.jsonl",
    ]


@pytest.mark.parametrize(
    ("name", "config", "said"),
    [
        ("trl-sft", TRLConfig(), "needs a model, or an initializer"),
        ("trl-sft", TorchTuneConfig(), "does not take a TorchTuneConfig"),
        ("torchtune-llama3.2-1b", TRLConfig("/m", "/d"), "does not take a TRLConfig"),
    ],
)
def test_a_configuration_for_another_runtime_is_refused(
    name: str, config: TorchTuneConfig | TRLConfig, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        built(name, BuiltinTrainer(config))
