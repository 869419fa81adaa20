"""The managed queue: who starts where and when, over all infrastructure. Pure."""
