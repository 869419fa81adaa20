"""The kubelet's part on this machine: pods, and all that makes them containers.

pod             one pod; `container` is one of its containers, with `probes` and `handlers`
pod_setup       from its template to commands: `environment`, `downward`, `variables`, `volumes`
node            what all pods share
processes       from fork to the last descendant, which `process_tree` finds; `mounts`,
                `control_group` and `container_tool` are what they run in
log_writer      what they print; `status_endpoint` is where they report how far they are
"""
