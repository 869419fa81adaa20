"""The dashboard as browsers see it: who may use it, its pages, and its files."""
