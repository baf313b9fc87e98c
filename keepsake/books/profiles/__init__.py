"""Whom and what an agent knows: a profile for each person, place and thing that it met."""
