"""What an agent writes down: notes, pins, promises and rules, a journal, pages of people."""
