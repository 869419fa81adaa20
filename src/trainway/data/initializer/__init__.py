"""The initializers of TrainJobs: what fetches the data set and the model before training starts.

`python -m trainway.data.initializer dataset` does what the image of Kubeflow Trainer does, from the
same variables to the same folders. In pods it is installed; to hosts, which have Python and nothing
of ours, it travels as one file (`archive.py`) that finds by itself what it needs (`starter.py`).
"""
