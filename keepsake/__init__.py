"""Non-player characters that remember: memory, recall, models and agents."""
