"""Any Kubernetes cluster of a kubeconfig as an infrastructure: `--on k8s/CONTEXT[/NAMESPACE]`."""
