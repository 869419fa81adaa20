"""Python stacks of jobs: taken from their pods, kept with the attempt, and what they tell."""
