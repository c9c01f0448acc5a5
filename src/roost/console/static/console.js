"use strict";

// The price and the call of a form, as it is filled in.
for (const form of document.querySelectorAll("form[data-preview]")) {
  const target = document.querySelector(form.dataset.preview);
  let timer, running;
  const show = async () => {
    running?.abort();
    running = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    fields.set("preview", "yes");
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: fields, headers: { "X-Fragment": "preview" }, signal: running.signal,
      });
      // A session that is over leads to the login, which is no preview.
      if (answer.ok && !answer.redirected) target.innerHTML = await answer.text();
    } catch { /* The next change asks again. */ }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 400); });
}
