/* The web client: Evennia's web socket, one log, one input line, no library.
 *
 * Messages both ways are JSON arrays [name, arguments, options]; the game sends text as
 * HTML that it has escaped itself. A lost line is taken up again, later each time.
 */
"use strict";

const story = document.getElementById("story");
const prompt = document.getElementById("prompt");
const form = document.getElementById("say");
const input = document.getElementById("line");
const page = Math.random().toString(36).slice(2);
const MOST_LINES = 2000;
const LONGEST_WAIT = 30000;
const SECRET = /^\s*(connect|create|co|cr)\s+(\S+|"[^"]*")\s+.+$/i;

const said = [];
let turn = 0;
let socket = null;
let wait = 1000;
let loggedIn = false;

function address() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const { session, socket: given, port } = document.body.dataset;
  // Its port is the one after the page's; behind a proxy there is one port, and a path.
  const direct = Number(location.port) === Number(port) - 1;
  const found = direct ? `${location.hostname}:${port}` : `${location.host}/websocket`;
  return `${given || `${scheme}://${found}`}?${session}&${page}&browser`;
}

function show(html, kind) {
  const atEnd = story.scrollHeight - story.scrollTop - story.clientHeight < 40;
  const line = document.createElement("div");
  line.className = kind;
  line.innerHTML = html;
  story.append(line);
  while (story.childElementCount > MOST_LINES) story.firstElementChild.remove();
  if (atEnd || kind === "mine") story.scrollTop = story.scrollHeight;
}

function escaped(text) {
  const holder = document.createElement("i");
  holder.textContent = text;
  return holder.innerHTML;
}

const hears = {
  text: (args) => show(args[0].replace(/<br\s*\/?>\n?/g, "\n"), "theirs"),
  prompt: (args) => {
    prompt.innerHTML = args[0];
    prompt.hidden = !args[0];
  },
  logged_in: () => { loggedIn = true; },
};

function connect() {
  socket = new WebSocket(address(), ["v1.evennia.com"]);
  socket.onopen = () => { wait = 1000; };
  socket.onmessage = (message) => {
    const [name, args] = JSON.parse(message.data);
    if (Object.hasOwn(hears, name)) hears[name](args);
  };
  socket.onclose = (event) => {
    loggedIn = false;
    if (event.code === 1000) {
      show("The line is closed. Load the page again to come back.", "notice");
      return;
    }
    show(`The line is lost; trying again in ${Math.round(wait / 1000)} s.`, "notice");
    setTimeout(connect, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  };
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
  if (line) show(escaped("> " + (secret ? line.replace(/\S+\s*$/, "•••") : line)), "mine");
  if (line && !secret) said.push(line);
  turn = said.length;
  input.value = "";
});

input.addEventListener("keydown", (event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step || !said.length) return;
  event.preventDefault();
  turn = Math.max(0, Math.min(said.length, turn + step));
  input.value = said[turn] ?? "";
});

// Clickable commands in the game's texts call this by name.
window.Evennia = { msg: (_name, args) => send(args[0]) };

document.addEventListener("click", (event) => {
  if (event.target.closest("a[href='#']")) event.preventDefault();
  if (!window.getSelection().toString()) input.focus();
});

connect();
