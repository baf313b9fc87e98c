"""What an agent does in its sleep, and when it sleeps: pure, no clock and no threads of its own."""
