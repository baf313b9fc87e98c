/* The hours and days of a stretch of time, as labels over a picture of it. */

import { formatter, onDay } from "./clock.js";

const HOUR = 60;
const DAY = 24 * HOUR;
/** The minutes from one label to the next, from the finest that anybody reads. */
const STEPS = [5, 10, 15, 30, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR].concat(
  [1, 2, 7, 14, 28, 91, 182, 364].map((days) => days * DAY),
);
const MOST = 200;
/** The pixels of a label with the space after it: `23:15`, `Mon 30 Nov`. */
const HOUR_WIDE = 50;
const DAY_WIDE = 92;

const days = formatter({ weekday: "short", day: "numeric", month: "short" });
const hours = formatter({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Labels for the time from `first` to `last` (seconds) in a picture of `wide` pixels: `{ at, words }`, `at` from 0 to 1.
 *
 * `scale` has the share of the picture at which a time is, and whether a time is in a quiet stretch, which may be drawn
 * narrow. The first label is a day, and so is each midnight that has room. Hours in a quiet stretch have no label.
 */
export function ticks(scale, first, last, wide) {
  let shown = [];
  for (const step of STEPS) {
    if ((last - first) / 60 / step > MOST) continue;
    const marks = [...marksOf(first, last, step)];
    const labels = placed(marks, scale, wide);
    shown = labels.shown;
    if (!labels.crowded) break;
  }
  return shown.map(({ time, day }) => ({
    at: scale.share(time),
    words: (day ? days : hours).format(new Date(time * 1000)),
  }));
}

/** The times at which a label may stand; the first one is the day of the beginning. */
function* marksOf(first, last, step) {
  yield { time: first, day: true };
  const begin = onDay(first * 1000);
  const whole = Math.max(step, DAY);
  for (let day = 0; ; day += whole) {
    for (let minute = day; minute < day + DAY; minute += step) {
      const time = onDay(begin, minute / 60) / 1000;
      if (time >= last) return;
      if (time > first) yield { time, day: minute % DAY === 0 };
    }
  }
}

/** Those of the labels that have room, and whether the others are too many: days come before hours. */
function placed(marks, scale, wide) {
  const taken = [];
  let crowded = false;
  const room = (mark) => {
    const from = scale.share(mark.time) * wide;
    const to = from + (mark.day ? DAY_WIDE : HOUR_WIDE);
    const over = taken.filter(([begin, end]) => to > begin && from < end);
    // An hour beside a day, or what comes soon after the beginning, is left out: that does not crowd.
    crowded ||= over.some(
      ([, , other]) => other !== marks[0] && other.day === mark.day && !scale.at(mark.time),
    );
    const free = !over.length && to <= wide + 8;
    if (free) taken.push([from, to, mark]);
    return free;
  };
  const found = new Set([
    ...marks.filter(({ day }) => day).filter(room),
    ...marks.filter(({ day, time }) => !day && !scale.at(time)).filter(room),
  ]);
  return { shown: marks.filter((mark) => found.has(mark)), crowded };
}
