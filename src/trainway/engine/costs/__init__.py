"""What jobs cost: rates with the times since which they hold, the sums of them, and budgets."""
