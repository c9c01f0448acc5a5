"use strict";

// What happens in the account changes the page as it happens. Forms are left alone: a person is
// filling them in. Pages that nobody sees hold no connection.
{
  const main = document.getElementById("main");
  const shows = !main.querySelector("form[data-preview], form[data-terminal]");
  // What the pages read counts for the user's rate: where much happens, they are read now and then.
  const soon = 200, apart = 3000;
  let stream, waiting, last = 0;

  const later = () => (waiting ??= setTimeout(refresh, Math.max(soon, last + apart - Date.now())));

  window.readAgain = later;

  async function refresh() {
    waiting = undefined;
    last = Date.now();
    if (main.querySelector("input:checked, details.calls[open]") || !getSelection().isCollapsed) return later();
    const answer = await fetch(location.href, { headers: { "X-Fragment": "main" } }).catch(() => undefined);
    if (!answer || answer.status === 429 || answer.status >= 500) return later();
    // A session that is over leads to the login.
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main");
    if (!fresh) return;
    fresh.querySelector(".done")?.remove();
    window.dressTimes?.(fresh);
    become(main, fresh);
  }

  // Only what differs is replaced, so that focus and what is typed stay.
  function become(old, fresh) {
    if (old.isEqualNode(fresh) || old === document.activeElement || old.dataset?.kept !== undefined) return;
    const alike = old.nodeType === 1 && old.nodeName === fresh.nodeName && old.childNodes.length === fresh.childNodes.length;
    if (!alike) {
      // What a script has filled stays as it is.
      for (const kept of old.querySelectorAll?.("[data-kept]") ?? []) fresh.querySelector(`#${kept.id}`)?.replaceWith(kept);
      if (old === main) main.replaceChildren(...fresh.childNodes);
      else old.replaceWith(fresh.cloneNode(true));
      return;
    }
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && name !== "open") old.setAttribute(name, value);
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    [...old.childNodes].forEach((child, n) => become(child, fresh.childNodes[n]));
  }

  const hear = (message) => {
    main.dataset.position = message.lastEventId;
    const event = JSON.parse(message.data);
    if (event.status === "failed") {
      const what = event.action.replaceAll("_", " ");
      window.toast?.(`${what} of ${event.entity?.label ?? "something"} failed: ${event.message || "no reason is known"}`);
    }
    if (shows) later();
  };

  const connect = () => {
    if (document.hidden) {
      stream?.close();
      stream = undefined;
    } else if (!stream) {
      const { position } = main.dataset;
      stream = new EventSource("/console/live" + (position ? `?after=${position}` : ""));
      stream.onmessage = hear;
      stream.addEventListener("reset", () => shows && later());
    }
  };
  document.addEventListener("visibilitychange", connect);
  connect();
}
