"""From what people write to the JobSet that runs: pure, and always in the same order."""
