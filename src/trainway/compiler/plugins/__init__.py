"""One module per plugin; `registry.py` beside this folder lists them."""
