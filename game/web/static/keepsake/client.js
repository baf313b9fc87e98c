/* The web client: Evennia's web socket, one log, one input line, no library. client_map.js draws the
 * map, client_settings.js has the settings.
 *
 * Messages both ways are JSON arrays [name, arguments, options]; the game sends text as
 * HTML that it has escaped itself, and the location as data (typeclasses/clients.py). A lost
 * connection is opened again, after longer and longer pauses, as the same player.
 */
"use strict";

const story = document.getElementById("story");
const prompt = document.getElementById("prompt");
const form = document.getElementById("say");
const input = document.getElementById("line");
const outside = input.placeholder;
const door = document.getElementById("door");
const bar = document.getElementById("bar");
const ways = document.getElementById("ways");
const map = document.getElementById("map");
const picture = document.getElementById("drawn");
const unread = document.getElementById("unread");
const mapButton = document.getElementById("map-shown");
const page = Math.random().toString(36).slice(2);
const MOST_LINES = 2000;
const MOST_TYPED = 200;
const MOST_KEPT = 300;
const LONGEST_WAIT = 30000;
const WAYS = {
  n: "north",
  ne: "northeast",
  e: "east",
  se: "southeast",
  s: "south",
  sw: "southwest",
  w: "west",
  nw: "northwest",
  u: "up",
  d: "down",
};
/* The roles of lines, by the type of the game's message; all others are the room's. */
const ROLES = {
  say: "speech",
  talk: "speech",
  shout: "speech",
  channel: "speech",
  whisper: "whisper",
  tell: "whisper",
  page: "whisper",
  failure: "fault",
  thinking: "thinking",
  look: "place",
  map: "place",
  who: "place",
  inventory: "place",
  hint: "hint",
  deed: "world",
  deeds: "world",
  time: "world",
  meet: "world",
  builder: "builder",
  scene: "aside",
  login: "aside",
  move: "aside",
  traverse: "aside",
  teleport: "aside",
};
/* A text that is laid out in columns, or has rules: it needs letters of one width. */
const LAID_OUT = /\S {3,}\S|^ {2,}\S|[-=~_]{8,}/m;
const SPOKEN = ["say", "talk", "whisper", "shout"];
const SECRET = /^\s*(connect|create|co|cr)\s+(\S+|"[^"]*")\s+.+$/i;

/* The lines typed in this tab, also before the page was reloaded. */
const typed = JSON.parse(sessionStorage.getItem("said") ?? "[]");
let position = typed.length;
let socket = null;
let wait = 1000;
let columns = 0;
let loggedIn = false;
/* Whether the log follows the newest line, until the player scrolls up; the last scroll position. */
let following = true;
let scrolled = 0;
let missed = 0;
/* The exits by the number of the room behind each. */
let waysTo = new Map();

function address() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const { session, socket: given, port } = document.body.dataset;
  // The socket's port is the page's port plus one; behind a proxy it is a path on the same port.
  const direct = Number(location.port) === Number(port) - 1;
  const found = direct ? `${location.hostname}:${port}` : `${location.host}/websocket`;
  return `${given || `${scheme}://${found}`}?${session}&${page}&browser`;
}

/* Add a line to the log: the player's own lines as text, all others as HTML. */
function show(html, kind) {
  const line = document.createElement("div");
  line.className = kind;
  line[kind === "mine" ? "textContent" : "innerHTML"] = html;
  line.classList.toggle("laid-out", LAID_OUT.test(line.textContent));
  story.append(line);
  while (story.childElementCount > MOST_LINES) story.firstElementChild.remove();
  following ||= kind === "mine";
  if (!following) missed += 1;
  follow();
}

function follow() {
  if (following) story.scrollTop = story.scrollHeight;
  showMissed();
}

/* Say how many lines came since the player scrolled up. */
function showMissed() {
  if (following) missed = 0;
  unread.hidden = !missed;
  unread.textContent = `${missed} new ${missed === 1 ? "line" : "lines"} ↓`;
}

/* Keep the end of the log for a reload of the page: in this tab only, until the player leaves. */
function keepStory() {
  const kept = [...story.children]
    .filter((line) => !line.matches(".thinking, .before"))
    .slice(-MOST_KEPT);
  sessionStorage.setItem(
    "story",
    JSON.stringify(kept.map(({ className, innerHTML }) => [className, innerHTML])),
  );
}

function restoreStory() {
  const kept = JSON.parse(sessionStorage.getItem("story") ?? "[]");
  if (!kept.length) return;
  for (const [className, html] of kept) {
    const line = document.createElement("div");
    line.className = className;
    line.innerHTML = html;
    story.append(line);
  }
  show("— above: before the page was loaded again —", "notice before");
}

function showWays({ exits, places }) {
  waysTo = new Map(Object.entries(exits).map(([way, id]) => [id, way]));
  const buttons = Object.keys(exits).map((way) => {
    const button = document.createElement("button");
    const place = document.createElement("i");
    place.textContent = places[way];
    button.type = "button";
    button.title = places[way];
    button.append(`${WAYS[way] ?? way} `, place);
    button.addEventListener("click", () => run(way));
    return button;
  });
  ways.replaceChildren(...buttons);
  bar.hidden = false;
}

/* The typed line that an own line of the game repeats: other lines may have come between. */
function typedFor(html) {
  const shown = document.createElement("template");
  shown.innerHTML = html;
  const words = shown.content.textContent.replace(/^[^"]*"|"[^"]*$/g, "");
  const typedLines = [...story.querySelectorAll(".mine")].reverse();
  return (
    typedLines.find((line) => line.textContent.includes(words)) ??
    story.querySelector(".mine:last-child")
  );
}

/* The map stays as the player left it; in a wide window it is shown at first. */
function showMapPanel(on) {
  mapButton.setAttribute("aria-pressed", String(on));
  map.hidden = !on || !picture.hasChildNodes();
}

function isMapShown() {
  return mapButton.getAttribute("aria-pressed") === "true";
}

const handlers = {
  text: ([html], { type, to_you: toYou }) => {
    const own = SPOKEN.includes(type) && html.startsWith("You ");
    if (own) typedFor(html)?.remove();
    for (const line of story.querySelectorAll(".thinking")) line.remove();
    door.hidden = loggedIn; // the first words greet who has not come in yet
    show(
      html.replace(/<br\s*\/?>\n?/g, "\n"),
      `theirs ${ROLES[type] ?? "room"}${toYou ? " to-you" : ""}${own ? " own" : ""}`,
    );
    if (toYou) call(story.lastElementChild.textContent);
  },
  room_info: (_args, facts) => showWays(facts),
  room_map: (_args, { rooms }) => {
    drawMap(picture, rooms, waysTo, run);
    showMapPanel(isMapShown());
  },
  prompt: (args) => {
    prompt.innerHTML = args[0];
    prompt.hidden = !args[0];
  },
  logged_in: () => {
    loggedIn = door.hidden = true;
    door.reset();
    // With a finger this would open the keyboard over the first room.
    if (matchMedia("(pointer: fine)").matches) input.focus();
    input.placeholder = input.dataset.within;
  },
  session_key: ([key]) => adopt(key),
};

/* Take over the session that began at the log-in: for the cookie, and to connect again. */
function adopt(key) {
  document.body.dataset.session = key;
  const body = new URLSearchParams({
    key,
    csrfmiddlewaretoken: form.elements.csrfmiddlewaretoken.value,
  });
  fetch("/webclient/session", { method: "POST", body }).catch(() => {});
}

function connect() {
  socket = new WebSocket(address(), ["v1.evennia.com"]);
  socket.onopen = () => {
    wait = 1000;
    columns = 0;
    sendWidth();
  };
  socket.onmessage = (message) => {
    const [name, args, facts] = JSON.parse(message.data);
    if (Object.hasOwn(handlers, name)) handlers[name](args, facts);
  };
  socket.onclose = (event) => {
    loggedIn = false;
    input.placeholder = outside;
    bar.hidden = true;
    if (event.code === 1000) {
      sessionStorage.removeItem("story");
      removeEventListener("pagehide", keepStory);
      show('The connection is closed. <a href="">Connect again</a>', "notice");
      prompt.hidden = form.hidden = map.hidden = door.hidden = true;
      return;
    }
    show(`The connection is lost; trying again in ${Math.round(wait / 1000)} s.`, "notice");
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  };
}

/* Send the number of columns, for which the game lays out tables. */
function sendWidth() {
  const probe = document.createElement("span");
  probe.textContent = "0".repeat(100);
  story.append(probe);
  const column = probe.getBoundingClientRect().width / 100;
  probe.remove();
  const { paddingLeft, paddingRight } = getComputedStyle(story);
  const width = story.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  const screenwidth = Math.max(20, Math.min(78, Math.floor(width / column)));
  if (socket.readyState !== WebSocket.OPEN || screenwidth === columns) return;
  columns = screenwidth;
  socket.send(JSON.stringify(["client_options", [], { screenwidth }]));
}

/* Send a clicked command, and show it like a typed one. */
function run(line) {
  if (send(line)) show(`> ${line}`, "mine");
}

function send(line) {
  if (!socket || socket.readyState !== WebSocket.OPEN) {
    show("Not connected yet; that was not sent.", "notice");
    return false;
  }
  socket.send(JSON.stringify(["text", [line], {}]));
  return true;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const line = input.value;
  if (!send(line)) return;
  const secret = !loggedIn && SECRET.test(line);
  if (line) show(`> ${secret ? line.replace(/\S+\s*$/, "•••") : line}`, "mine");
  if (line && !secret && line !== typed.at(-1)) typed.push(line);
  sessionStorage.setItem("said", JSON.stringify(typed.slice(-MOST_TYPED)));
  position = typed.length;
  input.value = "";
});

/* Come in by name and password: the same lines as one would type, and the password is never shown. */
door.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = door.elements.name.value.trim();
  const who = /\s/.test(name) ? `"${name}"` : name;
  const begun = `${event.submitter.value} ${who}`;
  if (send(`${begun} ${door.elements.password.value}`)) show(`> ${begun} •••`, "mine");
});

/* Scroll the log by a page, also while the player types. */
function scrollPage(key) {
  story.scrollBy({ top: { PageUp: -0.9, PageDown: 0.9 }[key] * story.clientHeight });
}

input.addEventListener("keydown", (event) => {
  if (event.key === "PageUp" || event.key === "PageDown") {
    event.preventDefault();
    return scrollPage(event.key);
  }
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step || !typed.length) return;
  event.preventDefault();
  position = Math.max(0, Math.min(typed.length, position + step));
  input.value = typed[position] ?? "";
});

// Clickable commands in the game's texts call this by name.
window.Evennia = { msg: (_name, args) => run(args[0]) };

document.addEventListener("click", (event) => {
  if (event.target.closest("a[href='#']")) event.preventDefault();
  // On a phone, a tap on a button must not open the keyboard.
  if (event.target.closest("button, dialog, #door, #map")) return;
  if (!window.getSelection().toString()) input.focus();
});

mapButton.addEventListener("click", () => {
  localStorage.setItem("map-shown", String(!isMapShown()));
  showMapPanel(!isMapShown());
});
unread.addEventListener("click", () => {
  following = true;
  follow();
});
showMapPanel((localStorage.getItem("map-shown") ?? String(window.innerWidth > 640)) === "true");
restoreStory();
addEventListener("pagehide", keepStory);
connect();
story.addEventListener("scroll", () => {
  const atEnd = story.scrollHeight - story.scrollTop - story.clientHeight < 40;
  following = atEnd || (following && story.scrollTop >= scrolled);
  scrolled = story.scrollTop;
  showMissed();
});
// The map and the exits change the size of the log.
new ResizeObserver(() => {
  sendWidth();
  follow();
}).observe(story);
