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

They get tired, go home and sleep; |wwho|n says so. Asleep they hear nothing but
their name called out loud: |wshout Mira!|n, or |wwake mira|n shakes her awake.
"""

_MEMORY = """
An agent keeps every single thing it perceives and does, in order, in an
archive on disk. Nothing is ever lost from it.

What it has in mind while it thinks is less, as with people:

  the |wimmediate window|n     the latest memories, word for word
  a |wshort-term summary|n     of what came before them
  a |wlong-term summary|n      of all that is older

When the window or the whole prompt is full, the older part of the window is
summed up: a |wcompaction|n. What it was told as a rule, what it promised and
what it pinned stays word for word, and so does the talk that is going on. So
an agent has the last talk exactly in mind, the one before it roughly, and
those of long ago as a mood. Before it thinks it also searches all that it
ever lived for what you speak of, and it keeps notes: ask about old things.

It knows whom it has met. What you tell of yourself it keeps, and when that
changes, both: what holds now, and what once did. What others say of you it
keeps as what they said. It notes who keeps a promise. Whatever you are called
later, you stay the same to it; another character of yours is somebody else.

What mattered most it writes into a journal. In its sleep it goes over all of
this again, and dreams; it takes no dream for something that happened.
"""

_PRIVACY = """
What you say or do where an agent perceives it stays in its memory and may
turn up in what it says to others, as with any neighbour. What you whisper to
it is for the two of you: it is not put before it when it answers others.
Still, do not tell the villagers what you would not tell a village.

 |wignore <name>|n               you neither hear nor see them
 |wreport <name> = <what>|n      the builders read it
 |wforget me|n                   your words are taken out of every memory

No player can read an agent's memory, its journal, what it thinks of people,
its profile or its private reasons, nor change who it is by talking to it. The
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
 |w@why|n <agent> [n]            why it did what it did last; |w/deep|n for all
 |w@memories|n <agent> [65-128]  raw memories; or |w<agent>/summary 3|n
 |w@notes|n, |w@note|n, |w@pin|n         its notes and pins

 |w@journal|n <agent> [day]      what it wrote down of its days, and why
 |w@people|n <agent> [who]       whom it knows, what it knows, what it thinks
 |w@sleep|n, |w@wake|n               who sleeps; put to bed, wake; |whelp nights|n
 |w@history|n <agent> [kind]     all compactions, sleeps and insights

 |w@llm-status|n                 models, queue, latency, tokens

All of it is to be seen in a browser as well, live: |w/agents/|n on the game's
web server, with the account that you have here.

Compaction is a ladder with marks; |whelp compaction|n explains it.

With no name given, the memory commands take the agent in the same room. Each
has its own help: |whelp @agent|n. Rooms, things and people of the village are
described in files in |wworld/|n, from which a new world is built.
"""

_COMPACTION = """
A prompt has a budget in tokens. What keeps it there is a ladder, gentle
first; a rung is only climbed when those before it were not enough:

 1. old tool results shrink to a line, repeats fold; each thought, no model
 2. the oldest of the window is summarised, down to the low mark
 3. summaries that have grown too long are summarised again
 4. what is summarised already is cut, with a line that says so

It begins when the window is full, over the |whigh|n mark, over the |wsleep|n mark
in an agent that sleeps, over the |wemergency|n mark before a thought, or when a
builder or the agent asks. Unasked it is only made when it saves enough.

What is going on, what is pinned and what was noticed (rules that the agent
was told, promises that it made) stays word for word. Each result is checked,
and what is missing is put back. A few questions, drawn before from what was
summed up, are asked afterwards: how many of them prompt and recall still
answer is the |wrate|n.

 |w@memory-status/tokens mira|n   what each section of the prompt costs
 |w@compaction mira|n             all compactions: saved, checked, rate
 |w@compaction mira 3|n           one of them, before and after
 |w@compaction/undo mira|n        take the last one back

Marks, sizes and switches are in |wvault/config/memory_compaction.md|n. How
summaries are written: the templates in |wvault/config/compaction/|n; copy one,
change it, and name it as |wstrategy|n. All of it counts from the next memory
on.
"""

_NIGHTS = """
An agent that has been awake for sixteen hours, or has thought a lot, tires.
Once nobody talks to it any more it goes home and lies down. In its sleep it

 1. |wconsolidate|n  puts its journal in order, and weighs it anew
 2. |wprofiles|n     brings what it knows of people up to date
 3. |wreflect|n      asks itself questions, when enough has gathered; an insight
                 cites the memories that it rests on
 4. |wcompact|n      has its memory compacted, when it is over the |wsleep|n mark
 5. |wdream|n        writes a dream that it will never recall
 6. |wtidy|n         clears away what a crash has left

Each step is written down when it is done, so whoever wakes it breaks nothing:
the next sleep goes on there. Everybody else comes first at the model.

 |w@sleep|n                      who sleeps, at which step; how tired the rest are
 |w@sleep mira|n, |w@wake mira|n     put it to bed, and wake it
 |w@history mira sleep|n         its sleeps, and what each of them did

Hours, calls and what is done are set in |wvault/config/sleep.md|n, and the
model by the profile that it names. Without a model all of it goes by rules.
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
    {
        "key": "compaction",
        "aliases": ["token budget", "compactions"],
        "category": "Building",
        "locks": _FOR_BUILDERS,
        "text": _COMPACTION,
    },
    {
        "key": "nights",
        "aliases": ["dreams", "reflection", "asleep"],
        "category": "Building",
        "locks": _FOR_BUILDERS,
        "text": _NIGHTS,
    },
]
