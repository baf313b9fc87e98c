"""What an agent remembers, keeps and finds again."""
