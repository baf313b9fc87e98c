"""A prototype for OLC and batch files: name this module in ``PROTOTYPE_MODULES``."""

AGENT = {
    "prototype_key": "AGENT",
    "prototype_desc": "An NPC that a language model plays, with a memory",
    "typeclass": "keepsake.contrib.evennia.agents.AgentNPC",
    "key": "Stranger",
    "profile": "You are a stranger who has just come here.",
}
"""Set ``key`` and ``profile``, and ``memory_id`` for the same memories after a rebuild."""
