/* The sections of an agent's page that show one answer of the API each, by their names. */

import { Journal, Nights, Notes, People } from "./book.js";
import { Charts } from "./charts.js";
import { Compactions } from "./compactions.js";
import { Prompt } from "./prompt.js";
import { Recall } from "./recall.js";
import { Tiers } from "./tiers.js";
import { Why } from "./why.js";

export const MAKERS = {
  prompt: Prompt, memory: Tiers, recall: Recall, compactions: Compactions, charts: Charts, why: Why,
  journal: Journal, people: People, notes: Notes, nights: Nights,
};

/** Which answer of the API each section shows, where its name is another. */
export const SHOWN = { live: "memories", memory: "memories", charts: "series",
  journal: "book", people: "book", notes: "book", nights: "book" };
