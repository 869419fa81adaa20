"""What the pods of an agent use of the machine: CPU, memory and GPUs, sampled while they run.

`sampler` asks the others every few seconds and writes what they say into the journal.
`process_usage` reads /proc; `gpu_monitor` is a child that asks NVIDIA's driver, so that a driver
that hangs hangs nobody else.
"""
