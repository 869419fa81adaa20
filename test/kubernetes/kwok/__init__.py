"""Tests on nodes that only pretend. A package, so that their cluster ends with the last of them."""
