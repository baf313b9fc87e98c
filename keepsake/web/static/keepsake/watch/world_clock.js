/* The time of the village, which the head of each page shows by the minute. */

import { formatter } from "./clock.js";

const MINUTE = 60000;
const face = document.getElementById("world-clock");
const hour = formatter({ weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Show the time, and again when the next minute begins. */
function show() {
  const now = Date.now();
  const parts = hour.formatToParts(now);
  const of = (type) => parts.find((part) => part.type === type).value;
  face.textContent = `${of("weekday")} ${of("hour")}:${of("minute")}`;
  setTimeout(show, MINUTE - (now % MINUTE));
}

show();
