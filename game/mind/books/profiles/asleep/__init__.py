"""What an agent concludes about people, places and things while it sleeps."""
