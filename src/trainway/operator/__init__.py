"""The operator: the controllers, webhooks and endpoints that run in a Kubernetes cluster."""
