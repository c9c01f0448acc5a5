"use strict";

// The pages' policy allows no style that a script writes into the page, as the terminal does for
// its colours: what it writes becomes a sheet of the document instead.
const makeElement = document.createElement.bind(document);
document.createElement = (name, options) => {
  const element = makeElement(name, options);
  if (String(name).toLowerCase() === "style") {
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    Object.defineProperty(element, "textContent", { set: (text) => sheet.replaceSync(text) });
  }
  return element;
};

for (const form of document.querySelectorAll("form[data-terminal]")) {
  const place = document.querySelector(form.dataset.terminal);
  const said = form.querySelector("[role=status]");
  form.addEventListener("submit", async (event) => {
    if (typeof Terminal === "undefined") return;
    event.preventDefault();
    said.textContent = "Opening…";
    const answer = await fetch(form.action, {
      method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Fragment": "json" },
    });
    if (!answer.headers.get("content-type")?.includes("json")) {
      said.textContent = "This was refused: is the instance running, and may you change it?";
      return;
    }
    open((await answer.json()).url, place, said);
  });
}

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
