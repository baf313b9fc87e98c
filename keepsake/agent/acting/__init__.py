"""What an agent does in the world: its acts as data, and how they are carried out."""
