"""The nouns people write: TrainJob, its runtimes, OptimizationJob and MPIJob.

Pure data. A model says once what a field is, may be and is when left out; from that come the schema
that checks an object offline, the CustomResourceDefinition that makes a cluster check it, and the
typed object the compiler reads. `kinds` is the way in.
"""
