"""The fixtures of this folder."""

from cloud_fixtures import aws, moto_cloud, moto_session, paired_cloud, user
from ssh_fixtures import ssh_hosts

__all__ = ["aws", "moto_cloud", "moto_session", "paired_cloud", "ssh_hosts", "user"]
