"""What was: the pasts of all agents, what compactions lost, and where facts went."""
