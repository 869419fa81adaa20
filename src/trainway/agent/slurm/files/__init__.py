"""The files of a job on a cluster, whether its nodes share a file system or not.

job_files       the directory of a job where everybody sees it
feed            sends back what a job writes on such a node
"""
