"""The OptimizationJob controller: searches over hyperparameters whose trials are TrainJobs."""
