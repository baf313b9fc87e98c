/* A memory as a sentence, from the fields of what happened. */

import { HappeningKind, KnownVerb, Manner, MemoryKind } from "./kinds.js";

/** What happened, in words. An own act has no subject: `says to Tom, "Good day."` */
export function sentence(memory) {
  if (memory.kind !== MemoryKind.ACT) return memory.text;
  const { what } = memory;
  if (memory.form === HappeningKind.SPEECH) return speech(what) || memory.text;
  if (memory.form === HappeningKind.POSE) return what.gesture || memory.text;
  return deed(what, memory.plan_words) || `does: ${memory.text}`;
}

/** Who spoke, acted or was seen, as `remembering` knows them, and what they did without their name.
 *
 * An agent's own act is its own; of a line that the game wrote, the name is taken off its beginning
 * if it stands there. `who` is empty if the memory says nobody.
 */
export function told(memory, remembering) {
  const words = heard(memory, remembering) || sentence(memory);
  if ([MemoryKind.ACT, MemoryKind.RESULT].includes(memory.kind)) return { who: remembering, words };
  const who = memory.source;
  return who && words.startsWith(`${who} `)
    ? { who, words: words.slice(who.length + 1) }
    : { who, words };
}

/** The identity, in what an agent remembers, of the agent itself. */
export const ME = "me";

/** Words that somebody said, with the name of the agent that heard them instead of “you”; empty for anything else. */
function heard({ kind, form, what, source }, remembering) {
  if (kind !== MemoryKind.PERCEPTION || form !== HappeningKind.SPEECH || !source) return "";
  const said = speech({
    ...what,
    to: (what.to ?? []).map((each) => (each.id === ME ? { ...each, name: remembering } : each)),
  });
  return said && `${source} ${said}`;
}

/** What a reader may overlook: that it is private, or that somebody else only acted it out. */
export function remarks({ privacy, form, kind }) {
  const played = form === HappeningKind.POSE && kind !== MemoryKind.ACT;
  return [privacy, played && "acted out"].filter(Boolean);
}

const SAYS = {
  [Manner.SAY]: "says",
  [Manner.WHISPER]: "whispers",
  [Manner.SHOUT]: "shouts",
  [Manner.CHANNEL]: "says on a channel",
};

/** Without words nothing is left to tell: they are not known. */
function speech({ words, to, manner }) {
  const whom = listed(to);
  return words && `${SAYS[manner]}${whom && ` to ${whom}`}, "${words.replaceAll('"', "'")}"`;
}

/** An own deed; empty for a verb that the library does not know. `plan`: what a plan is that it names by number. */
function deed({ verb, objects, to }, plan = "") {
  if (!(verb in DOES)) return "";
  const words = objects.join(": ");
  return DOES[verb](plan ? words.replace(/^\d+/, () => plan) : words, listed(to));
}

const DOES = {
  [KnownVerb.LOOK]: (thing) => (thing ? `looks at ${thing}` : "looks around"),
  [KnownVerb.EXAMINE]: (thing) => `looks closely at ${thing}`,
  [KnownVerb.GO]: (way) => `goes ${way}`,
  [KnownVerb.WALK]: (place) => `walks to ${place}`,
  [KnownVerb.GET]: (thing) => `picks up ${thing}`,
  [KnownVerb.DROP]: (thing) => `puts down ${thing}`,
  [KnownVerb.GIVE]: (thing, whom) => `gives ${thing}${whom && ` to ${whom}`}`,
  [KnownVerb.FOLLOW]: (thing, whom) => `follows ${whom || thing}`,
  [KnownVerb.STAY]: () => "stays here",
  [KnownVerb.WAIT]: () => "waits",
  [KnownVerb.RECALL]: (words) => `searches its memory${words && ` for “${words}”`}`,
  [KnownVerb.REMEMBER]: (words) => `remembers: ${words}`,
  [KnownVerb.PROMISE]: (words, whom) => `promises${whom && ` ${whom}`}: ${words}`,
  [KnownVerb.KEPT]: (number) => `has kept the promise of memory ${number}`,
  [KnownVerb.PLAN]: (words) => `plans: ${words}`,
  [KnownVerb.DONE]: (words) =>
    /^\d+$/.test(words) ? `has done its plan ${words}` : `has done its plan: ${words}`,
  [KnownVerb.CANCEL]: (words) => `gives up its plan: ${words}`,
  [KnownVerb.AGREE]: (thing, whom) => `agrees to meet ${whom || thing}`,
  [KnownVerb.DECLINE]: (thing, whom) => `declines to meet ${whom || thing}`,
  [KnownVerb.NOTE]: (words) => `writes a note, ${words}`,
  [KnownVerb.FORGET]: (words) => `puts away its note “${words}”`,
  [KnownVerb.PIN]: (words) => `pins: ${words}`,
  [KnownVerb.UNPIN]: (words) => `unpins: ${words}`,
};

/** People in words: `Tom, Ann and Joss`; empty for nobody. */
function listed(people) {
  return inWords(people.map(({ name }) => name));
}

/** Names in words. */
export function inWords(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
