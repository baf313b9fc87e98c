// Runs a script of a mob as GoMud does: without network, with GoMud's own functions. Only these are
// made up here; what the module sends goes to a real service.
// Arguments: the script, the address of the service, the token.
const fs = require("fs");
const vm = require("vm");
const [script, address, token] = process.argv.slice(2);
const names = { 3: "Anneke", 4: "Bram" };
const commands = [];
const sending = [];

const actor = (id) => ({ GetCharacterName: () => names[id], UserId: () => id });
const mob = { InstanceId: () => 7, Command: (line) => commands.push(line) };
const room = { GetPlayers: () => [3, 4] };

async function send(instance, agent, verb, body) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const asked = { method: "POST", headers, body };
  const answer = await fetch(`${address}/agents/${agent}/${verb}`, asked);
  const said = await answer.json();
  if (!answer.ok) throw new Error(`${said.error}. ${said.cure}`);
  if (instance !== mob.InstanceId()) throw new Error(`no mob ${instance}`);
  for (const line of (said.text || "").split("\n")) if (line) mob.Command(`say ${line}`);
}

const game = vm.createContext({
  GetUser: (id) => (id in names ? actor(id) : null),
  modules: { keepsake: { Send: (...given) => void sending.push(send(...given)) } },
});
vm.runInContext(fs.readFileSync(script, "utf8"), game);

async function happens(event, details) {
  Object.assign(game, { mob, room, details });
  const before = commands.length;
  const handled = vm.runInContext(`${event}(mob, room, details)`, game);
  if (commands.length !== before) throw new Error("the script waited, and GoMud gives it 50 ms");
  await Promise.all(sending.splice(0));
  return handled;
}

(async () => {
  const user = { sourceId: 3, sourceType: "user" };
  const handled = [
    await happens("onGive", { ...user, gold: 0, item: { Name: () => "a loaf" } }),
    await happens("onGive", { ...user, gold: 12 }),
    await happens("onAsk", { ...user, askText: "Did you like the loaf?" }),
    await happens("onAsk", { ...user, askText: "" }),
    await happens("onAsk", { sourceId: 99, sourceType: "user", askText: "Who am I?" }),
  ];
  console.log(JSON.stringify({ handled, commands }));
})();
