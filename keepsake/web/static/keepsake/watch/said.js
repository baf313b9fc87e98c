/* What an agent said: the keys of its rows. The page needs no JavaScript. */

import { bindKeys, byId, rowKeys } from "./dom.js";
import { followOneAgent } from "./questions.js";

bindKeys([...rowKeys(() => byId("main")), ["u", "up to all agents", () => byId("up").click()]]);
followOneAgent();
