"""MPIJobs on a cluster: each runs on one JobSet, with the status of MPI Operator."""
