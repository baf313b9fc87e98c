"""A prototype for OLC and batch files: name this module in ``PROTOTYPE_MODULES``.

``spawn AGENT`` makes an agent; a prototype of your own begins from it::

    {"prototype_parent": "AGENT", "key": "Mira", "profile": "You are Mira, …", "memory_id": "…"}
"""

AGENT = {
    "prototype_key": "AGENT",
    "prototype_desc": "An NPC that a language model plays, with a memory",
    "typeclass": "keepsake.contrib.evennia.agents.AgentNPC",
    "key": "Stranger",
    "profile": "You are a stranger who has just come here.",
    "talkativeness": 0.5,
}
"""Set ``key`` and ``profile``, and ``memory_id`` to find the same memories after a rebuild."""
