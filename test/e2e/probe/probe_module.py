"""What the probe imports."""

WORD = "imported"
