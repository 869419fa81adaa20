"""The fixtures of this folder."""

from ssh_fixtures import ssh_hosts, ssh_pool

__all__ = ["ssh_hosts", "ssh_pool"]
