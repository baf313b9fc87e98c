"""Help entries that belong to no command; Evennia reads the list by its name."""

from __future__ import annotations

_FOR_PLAYERS = "view:all();read:all()"
_FOR_BUILDERS = "view:perm(Builder);read:perm(Builder)"

_START = """
You are in |wWithy Hythe|n, a village of a few houses at the mouth of a tidal
river. The people who live here have things they like and things they hide.

 1. |wlook|n shows where you are. |wlook hearth|n looks at one thing in it.
 2. |wtalk mira Good evening.|n speaks to somebody. |wsay Good evening.|n speaks
    to all. They need a moment to think, as people do.
 3. |wgo south|n, or just |wsouth|n or |ws|n, walks. |wwho|n tells where they all are.
 4. |wget|n, |wdrop|n and |wgive|n move things about. Some of them matter to somebody:
    |wexamine|n hints at it, and asking around helps.
 5. |wemote smiles.|n does something without words.

See also |whelp talking|n, |whelp memory|n and |whelp privacy|n.
"""

_TALKING = """
Everybody who lives here is played by a language model. They hear and see what
you would hear and see in their place, and they act by the same commands.

 |wtalk oswin Why is the clock slow?|n   he knows that you mean him
 |wsay Is anybody hungry?|n              whoever feels like it may answer
 |wwhisper wren = I can keep a secret|n  the others hear nothing
 |wgive honey to ruan|n                  he will have an opinion

A name's beginning will do. Speak in plain sentences and one thing at a time;
answers come in a few seconds and are short. Who has nothing to say may go on
with the day instead. Orders that no villager could follow are just odd talk.
"""

_MEMORY = """
An agent keeps every single thing it perceives and does, in order, in an
archive on disk. Nothing is ever lost from it.

What it has in mind while it thinks is less, as with people:

  the |wimmediate window|n     the latest memories, word for word
  a |wshort-term summary|n     of what came before them
  a |wlong-term summary|n      of all that is older

When the window is full, the older part of it is summed up: a |wcompaction|n.
So an agent has the last talk exactly in mind, the one before it roughly, and
those of long ago as a mood. Before it thinks it also searches all that it
ever lived for what you speak of, and it keeps notes: ask about old things.
"""

_PRIVACY = """
What you say, do or whisper where an agent perceives it stays in its memory
and may turn up in what it says to others, as with any neighbour. Do not tell
the villagers what you would not tell a village.

No player can read an agent's memory, its profile or its private reasons. The
builders of this world can: they look after the memories and research them.

Your password is stored only as a salted hash, and agents never see it.
"""

_BUILDING = """
Agents, for builders.

 |w@agent|n                      all agents, and what can be done with them
 |w@agent/create|n, |w/profile|n     make one; read or change who it is
 |w@agent/pause|n, |w/resume|n       stop and start its thinking
 |w@agent/interval|n             how often it does something unasked
 |w@agent/prompt|n               the very prompt that it would send now
 |w@agent/delete|n               take it out of the world; its archive stays

 |w@memory-status|n, |w/tokens|n     window, summaries, integrity; what a prompt costs
 |w@compact-memories|n           sum up now, and say what came of it
 |w@compaction|n, |w/undo|n          what each did, before and after; take one back
 |w@recall|n <agent> = <words>   what it would find, and why
 |w@memories|n <agent> [65-128]  raw memories; or |w<agent>/summary 3|n
 |w@notes|n, |w@note|n, |w@pin|n         its notes and pins

 |w@llm-status|n                 models, queue, latency, tokens

With no name given, the memory commands take the agent in the same room. Each
has its own help: |whelp @agent|n. Rooms, things and people of the village are
described in files in |wworld/|n, from which a new world is built.
"""

HELP_ENTRY_DICTS = [
    {
        "key": "start",
        "aliases": ["newcomer", "first minute", "begin", "newbie", "tutorial"],
        "category": "The world",
        "locks": _FOR_PLAYERS,
        "text": _START,
    },
    {
        "key": "talking",
        "aliases": ["agents", "villagers"],
        "category": "The world",
        "locks": _FOR_PLAYERS,
        "text": _TALKING,
    },
    {
        "key": "memory",
        "aliases": ["memories", "remembering"],
        "category": "The world",
        "locks": _FOR_PLAYERS,
        "text": _MEMORY,
    },
    {
        "key": "privacy",
        "aliases": ["secrets"],
        "category": "The world",
        "locks": _FOR_PLAYERS,
        "text": _PRIVACY,
    },
    {
        "key": "agents for builders",
        "aliases": ["builders", "building agents"],
        "category": "Building",
        "locks": _FOR_BUILDERS,
        "text": _BUILDING,
    },
]
