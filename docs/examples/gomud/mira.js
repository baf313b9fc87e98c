// The script of a mob: mobs/<zone>/scripts/<mobid>-mira.js
// A script cannot reach the network. The module in keepsake.go sends for it, and the mob says the
// answer when it comes.
var AGENT = "mira";

function person(user) {
  return { name: user.GetCharacterName(false), id: "gomud:" + user.UserId() };
}

function present(room) {
  var people = [];
  var ids = room.GetPlayers();
  for (var i = 0; i < ids.length; i++) {
    var user = GetUser(ids[i]);
    if (user != null) people.push(person(user));
  }
  return people;
}

// A player types: ask mira about the ferry
function onAsk(mob, room, eventDetails) {
  var user = GetUser(eventDetails.sourceId);
  if (user == null || !eventDetails.askText) return false;
  var asked = { words: eventDetails.askText, by: person(user), here: present(room) };
  modules.keepsake.Send(mob.InstanceId(), AGENT, "answer", JSON.stringify(asked));
  return true;
}

// A player types: give loaf to mira
function onGive(mob, room, eventDetails) {
  var user = GetUser(eventDetails.sourceId);
  if (user == null || eventDetails.sourceType == "mob") return false;
  var thing = eventDetails.gold > 0 ? eventDetails.gold + " gold" : eventDetails.item.Name();
  var given = { type: "deed", actor: person(user), verb: "give", objects: [thing], to: ["Mira"] };
  modules.keepsake.Send(mob.InstanceId(), AGENT, "perceive", JSON.stringify(given));
  return false;
}
