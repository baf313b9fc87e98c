"""What an agent does about what happens: a thought, from its reason to the act."""
