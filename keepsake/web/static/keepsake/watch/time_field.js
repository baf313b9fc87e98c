/* A day and a time of day by the world's clock. The field that browsers have for both shows AM and PM to many readers. */

import { ZONE, fromDay, toField } from "./clock.js";
import { el } from "./dom.js";

export class TimeField {
  constructor(label) {
    this.day = el("input", { type: "date", required: true });
    this.hour = el("input", {
      class: "hour",
      required: true,
      autocomplete: "off",
      maxlength: "8",
      pattern: "([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?",
      title: "A time of day of 24 hours: 18:05",
      "aria-label": `${label}, time of day`,
    });
    this.nodes = [
      el("label", { title: `By the world's clock, ${ZONE}` }, `${label} `, this.day),
      this.hour,
    ];
  }

  get moment() {
    return fromDay(this.day.value, this.hour.value);
  }

  /** `moment`: a time or its milliseconds since 1970. */
  set moment(moment) {
    [this.day.value, this.hour.value] = toField(moment).split("T");
  }
}
