"""Torch in real pods: two nodes find each other by name and train together."""

from node_operator import EXAMPLES, NodeOperator, framework_program, host_runtime, trainjob


def test_two_nodes_train_with_ddp(node_operator: NodeOperator, namespace: str) -> None:
    trainer = {
        "numNodes": 2,
        "numProcPerNode": 1,
        "command": [framework_program("torchrun"), str(EXAMPLES / "torch_ddp.py")],
        "args": ["--epochs", "2", "--samples", "512", "--output-dir", "/tmp/output"],
        "env": [{"name": "OMP_NUM_THREADS", "value": "1"}],
    }
    node_operator.create(
        namespace,
        host_runtime("torch-distributed", "torch"),
        trainjob("ddp", "torch", trainer),
    )
    node_operator.wait_condition("trainjob", namespace, "ddp", "Complete")
    log = node_operator.log(namespace, "jobset.sigs.k8s.io/jobset-name=ddp")
    assert log.count("epoch 2/2") == 1, log
    assert "processes 2" in log, log
