"""What an agent means to do: its plans and their clock, their steps, appointments."""
