"use strict";

// The pages' policy allows no style that is written into the page, as the terminal does for its
// colours: its sheets become the document's own, its attributes what scripts may set.
const makeElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  if (String(name).toLowerCase() !== "style") return makeElement(name, options);
  const element = makeElement("template"), sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", { set: (text) => sheet.replaceSync(text) });
  return element;
};
const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function set(name, value) {
  if (name === "style") this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

// The terminal's library is large: whoever is quicker than it waits, as the form alone shows no more
// than an address.
const loaded = new Promise((done) => document.addEventListener("DOMContentLoaded", done));

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("form[data-terminal]")) return;
  event.preventDefault();
  const place = document.querySelector(form.dataset.terminal);
  const said = form.querySelector("[role=status]");
  said.textContent = "Opening…";
  await loaded;
  if (typeof Terminal === "undefined") return form.submit();
  const answer = await fetch(form.action, {
    method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Fragment": "json" },
  });
  const told = answer.headers.get("content-type")?.includes("json") ? await answer.json() : {};
  if (told.url) open(told.url, place, said);
  else said.textContent = told.errors?.map((each) => each.reason).join("; ") ?? "This page was open for too long.";
});

function open(url, place, said) {
  const theirs = new URL(url);
  const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${theirs.pathname}`);
  socket.binaryType = "arraybuffer";
  place.hidden = false;
  place.replaceChildren();
  const terminal = new Terminal({ cursorBlink: true, screenReaderMode: true, scrollback: 5000 });
  const fit = new FitAddon.FitAddon();
  terminal.loadAddon(fit);
  terminal.open(place);
  fit.fit();
  addEventListener("resize", () => fit.fit());
  terminal.onData((text) => { if (socket.readyState === WebSocket.OPEN) socket.send(new TextEncoder().encode(text)); });
  socket.onopen = () => { said.textContent = "Open. Press Enter for a prompt."; terminal.focus(); };
  socket.onmessage = (message) => terminal.write(new Uint8Array(message.data));
  socket.onclose = (end) => { said.textContent = end.reason || "The console has ended."; };
}
