"""The books of an agent: notes, pins, promises and rules, a journal, pages about people."""
