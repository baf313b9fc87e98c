"""The files that people and the game both write, and what an agent keeps of its own accord."""
