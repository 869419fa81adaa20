"""The two scripts of a Flux job: `init.sh` installs Flux, `entrypoint.sh` starts it.

The installer's image keeps a complete Flux below /opt/view. `init.sh` copies it to the volume that
the node shares at /mnt/flux, with the configuration of the brokers; `entrypoint.sh` then runs in
the node's own image, starts one broker per node, and on the first node runs the job's command.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_INIT = """\
#!/bin/bash
# Copies Flux to the volume shared with the node and writes the configuration of its brokers.
set -eu

root=/mnt/flux
config=$root/config
mkdir -p "$root/view" "$config/etc/flux/config" "$config/etc/flux/system/cron.d" \\
  "$config/etc/curve" "$config/run/flux" "$config/var/lib/flux"

echo "@hosts@" > "$config/etc/flux/system/hostlist"

cat > "$config/etc/flux/config/broker.toml" <<'TOML'
@broker@TOML

# The view is a tree of links into /opt/software, which the node gets back at the same place.
cp -R "$(readlink -f /opt/view)/." "$root/view/"
cp -R /opt/software "$root/"
"""

_BROKER = """\
[access]
allow-guest-user = true
allow-root-owner = true

[resource]
path = "/mnt/flux/config/etc/flux/system/R"

[bootstrap]
curve_cert = "/mnt/flux/config/etc/curve/curve.cert"
default_port = 8050
default_bind = "tcp://@device@:%p"
default_connect = "tcp://%h.@domain@:%p"
hosts = [ { host = "@hosts@" } ]

[archive]
dbpath = "/mnt/flux/config/var/lib/flux/job-archive.sqlite"
period = "1m"
busytimeout = "50s"

[sched-fluxion-qmanager]
queue-policy = "@policy@"
"""

_ENTRYPOINT = """\
#!/bin/bash
# Starts a Flux broker on this node; on the first node also runs the command given as argument.
root=/mnt/flux
view=$root/view
config=$root/config
lead="@lead@"
flags="@flags@"
command="$*"

# The view comes last: what the image has of its own is preferred.
export PATH="$PATH:$view/bin"
site=$(find "$view/lib" -maxdepth 1 -type d -name 'python3*' | head -n 1)
export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$site/site-packages"
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$view/lib"
export FLUX_RC_EXTRA="$view/etc/flux/rc1.d"
cp -R "$root/software/." /opt/software/

# The brokers refuse a certificate that others may read.
install -m 0600 /curve/curve.cert "$config/etc/curve/curve.cert"

hosts=$(cat "$config/etc/flux/system/hostlist")
flux R encode --hosts="$hosts" @resources@ > "$config/etc/flux/system/R"

options=(
  --config-path="$config/etc/flux/config"
  -Scron.directory="$config/etc/flux/system/cron.d"
  -Stbon.fanout=256
  -Srundir="$config/run/flux"
  -Sstatedir="$config/var/lib/flux"
  -Slocal-uri="local://$config/run/flux/local"
  -Slog-stderr-level=0
  -Slog-stderr-mode=local
)

if [ "$(hostname)" = "$lead" ]; then
  if [ -z "$command" ]; then
    exec flux broker "${options[@]}"
  fi
  # The command comes as one word and is split here, as a shell would split it.
  # shellcheck disable=SC2086
  exec flux start "${options[@]}" flux run $flags $command
fi

# A follower may start before the first node can be reached, so it tries again.
until flux start "${options[@]}"; do
  echo "the first node $lead cannot be reached yet; trying again in 15 seconds"
  sleep 15
done
"""


@dataclass(frozen=True)
class FluxCluster:
    """What the scripts must know of the job."""

    hosts: tuple[str, ...]
    domain: str
    tasks_per_node: int
    gpus_per_task: int
    network_device: str
    queue_policy: str


def init_script(cluster: FluxCluster) -> str:
    """`init.sh`."""
    hosts = hostlist(cluster.hosts)
    broker = _filled(
        _BROKER,
        device=cluster.network_device,
        domain=cluster.domain,
        hosts=hosts,
        policy=cluster.queue_policy,
    )
    return _filled(_INIT, hosts=hosts, broker=broker)


def entrypoint_script(cluster: FluxCluster) -> str:
    """`entrypoint.sh`."""
    nodes = len(cluster.hosts)
    flags = f"-N {nodes} -n {nodes * cluster.tasks_per_node}"
    resources = f"--cores={_range(cluster.tasks_per_node)}"
    if cluster.gpus_per_task:
        flags += f" -g {cluster.gpus_per_task}"
        resources += f" --gpu={_range(cluster.gpus_per_task)}"
    lead = cluster.hosts[0] if cluster.hosts else ""
    return _filled(_ENTRYPOINT, lead=lead, flags=flags, resources=resources)


def hostlist(hosts: Sequence[str]) -> str:
    """Names that differ in a last number counting from 0 as `prefix-[0-3]`, others one by one."""
    prefix = re.sub(r"\d+$", "", hosts[0]) if hosts else ""
    if hosts and list(hosts) == [f"{prefix}{index}" for index in range(len(hosts))]:
        return f"{prefix}[{_range(len(hosts))}]"
    return ",".join(hosts)


def _range(size: int) -> str:
    return "0" if size == 1 else f"0-{size - 1}"


def _filled(template: str, **values: str) -> str:
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], template)
