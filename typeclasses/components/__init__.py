"""What makes a character an agent: memory, thinker, actor."""
