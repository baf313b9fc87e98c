/* The player's settings, kept in this browser: font, size, colours, and what calls them. */
"use strict";

const DEFAULTS = { font: "mono", size: "normal", theme: "system", call: "none" };
const settings = document.getElementById("settings");
const fields = settings.querySelector("form").elements;
let chosen = { ...DEFAULTS, ...JSON.parse(localStorage.getItem("settings") ?? "{}") };
let sounds = null;

function apply() {
  for (const name of ["font", "size", "theme"])
    document.documentElement.dataset[name] = chosen[name];
  for (const name of Object.keys(DEFAULTS)) fields[name].value = chosen[name];
}

/* Call the player's attention to words that were said to them. */
function call(words) {
  if (chosen.call === "sound") beep();
  if (chosen.call === "note" && document.hidden && window.Notification?.permission === "granted") {
    new Notification(document.title, { body: words.slice(0, 200), tag: "keepsake" });
  }
}

function beep() {
  sounds ??= new AudioContext();
  const [tone, level] = [sounds.createOscillator(), sounds.createGain()];
  tone.frequency.value = 660;
  level.gain.setValueAtTime(0.08, sounds.currentTime);
  level.gain.exponentialRampToValueAtTime(0.001, sounds.currentTime + 0.3);
  tone.connect(level).connect(sounds.destination);
  tone.start();
  tone.stop(sounds.currentTime + 0.3);
}

settings.addEventListener("change", () => {
  for (const name of Object.keys(DEFAULTS)) chosen[name] = fields[name].value;
  localStorage.setItem("settings", JSON.stringify(chosen));
  apply();
  if (chosen.call === "note") window.Notification?.requestPermission();
  if (chosen.call === "sound") beep();
});
document.getElementById("settings-shown").addEventListener("click", () => settings.showModal());
apply();
