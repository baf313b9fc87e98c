"""What the scripted model says: lines with gaps, by the occasion.

``{who}`` is whom it speaks to, ``{topic}`` a word of what was said, ``{thing}`` something that is
there, ``{self}`` a sentence from the agent's own profile.
"""

GREETINGS = (
    "Good day, {who}. Come in and sit down.",
    "There you are, {who}. What brings you here?",
    "Good to see you, {who}. {self}",
    "Hello, {who}. You look as if you had walked a long way.",
    "Well met, {who}. Have you heard anything new?",
)
ANSWERS = (
    "About the {topic}? I would ask by the quay, {who}; somebody there always knows.",
    "I have thought about the {topic} all week, {who}, and I am none the wiser.",
    "The {topic}? Yes, {who}. I saw to it myself this morning.",
    "{self} So you see, {who}, the {topic} is nothing to me.",
    "That is a fair question, {who}. Ask me again when I have looked at the {topic}.",
    "I could not say for certain, {who}. But I remember the {topic} well enough.",
)
ACKNOWLEDGED = (
    "I will not forget that, {who}.",
    "So that is how it is with the {topic}. Thank you for telling me, {who}.",
    "I am glad you told me about the {topic}, {who}.",
    "The {topic}, of all things! {self}",
    "Then we both know about the {topic} now, {who}.",
)
PROMISED = (
    "Good, {who}. I will hold you to that.",
    "I promise to keep an eye on the {topic} for you, {who}.",
    "Then I count on you, {who}.",
)
REMEMBERED = (
    "Let me think, {who}. Yes: you told me about the {topic}.",
    "It comes back to me, {who}. It had to do with the {topic}.",
    "I looked back in my mind, {who}, and the {topic} is still there.",
)
FAREWELLS = (
    "Safe ways, {who}. Come again.",
    "Until next time, {who}. Mind the step.",
    "Go well, {who}.",
)
THANKS = (
    "Thank you for the {thing}, {who}. I will take good care of it.",
    "The {thing}! How kind of you, {who}.",
)
SMALL_TALK = (
    "The tide is late today, {who}.",
    "{self}",
    "Have you seen who came over on the ferry, {who}?",
    "It smells of rain, do you not think, {who}?",
    "I keep thinking about the {thing}, {who}.",
)
EMOTES = (
    "looks out at the water for a while.",
    "straightens the {thing} and steps back to see.",
    "hums a few bars of an old tune.",
    "rubs cold hands together.",
    "listens to the rain on the roof.",
    "counts something off on the fingers of one hand.",
)
JOURNAL = (
    "A quiet hour. I thought about {who} and about what I still have to do.",
    "I spoke with {who} today, and it did me good.",
    "I must look after the {thing} before the week is out.",
)
REASONS = (
    "they are waiting for an answer",
    "I like to keep people talking",
    "it has been on my mind",
    "somebody ought to",
    "it would be rude not to",
    "I want to know how it ends",
)
