"""What an agent writes down: notes, pins, commitments, a journal, profiles."""
