"""One job from its first pod to its end, wherever its pods run.

supervisor      does what the controllers decide, and writes it down; `control` is its socket,
                `supervisor_state` has the states that it can be in
pod_registry    the pods of each Job; `remote_pods` are those that run elsewhere
recovery        how it goes on after an agent died; `inquiry` is whether a failure is the job's own
"""
