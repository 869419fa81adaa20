"""The intermediate form: the JobSet that every way of writing a job becomes.

Its schema and admission rules, resource quantities and what a pod asks for, strategic merge patch,
and the status of TrainJob and MPIJob derived from that of their JobSet. Pure: no I/O, no clock.
"""
