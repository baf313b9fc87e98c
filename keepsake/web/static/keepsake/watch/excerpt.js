/* The part of a long line that has the words that were typed: what stands in two lines of a card. */

/** The letters before the first typed word that fit into a card beside it, and the letters of a card. */
const BEFORE = 40;
const CARD = 110;
/** The letters by which a word of a line is a typed one, whatever its ending. */
const STEM = 5;
/** The letters from which on a word is likely to say something. */
const LONG = 4;

/** A text from shortly before the place that has most of some words; from its beginning if they stand there. */
export function excerpt(text, typed) {
  const words = typed.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const long = words.filter((each) => each.length >= LONG);
  const stems = (long.length ? long : words).map((each) => each.slice(0, STEM));
  const found = [...text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)].flatMap(({ 0: word, index }) =>
    stems.filter((stem) => word.startsWith(stem)).map((stem) => ({ stem, index })),
  );
  if (!found.length) return text;
  const near = ({ index }) =>
    new Set(
      found
        .filter((each) => each.index >= index && each.index < index + CARD)
        .map(({ stem }) => stem),
    ).size;
  const best = found.reduce((one, other) => (near(other) > near(one) ? other : one));
  if (best.index <= CARD - BEFORE) return text;
  const begins = text.indexOf(" ", best.index - BEFORE) + 1;
  return `… ${text.slice(begins)}`;
}
