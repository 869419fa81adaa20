"""Tests on an API server alone. A package, so that its clusters end with the last of them."""
