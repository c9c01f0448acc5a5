"use strict";

// Files that are chosen, or dropped on the page, go into the bucket one after another, large ones by
// parts. What broke off goes on where it was; what is cancelled leaves nothing there.
for (const place of document.querySelectorAll("[data-uploads]")) {
  const form = place.querySelector("form"), chosen = form.elements.file, csrf = form.elements.csrf;
  const list = place.querySelector("ul"), said = place.querySelector("[role=status]");
  const PART = Number(place.dataset.part), MOST_PARTS = 10000, ATTEMPTS = 6;
  const all = [];
  let working = false;

  // The request's answer; throws what is to be said, with `ends` where it would be the same again.
  function once(one, method, query, body) {
    const asked = new URLSearchParams(query).toString();
    return new Promise((resolve, reject) => {
      const request = (one.request = new XMLHttpRequest());
      const fail = (reason, ends) => reject(Object.assign(new Error(reason), { ends, status: request.status }));
      request.upload.onprogress = (event) => body instanceof Blob && show(one, one.sent + event.loaded);
      request.onerror = () => fail("The connection broke.", false);
      request.onabort = () => fail("Cancelled.", true);
      request.onload = () => {
        let told = {};
        try { told = JSON.parse(request.responseText); } catch { /* No answer of ours. */ }
        if (request.status < 300) return resolve(told);
        const reasons = told.errors?.map((each) => each.reason).join("; ");
        fail(reasons || `The server answered ${request.status}.`, request.status < 500 && ![408, 429].includes(request.status) || request.status === 507);
      };
      request.open(method, form.action + (asked && `?${asked}`));
      request.setRequestHeader("X-Csrf", csrf.value);
      if (body instanceof Blob) request.setRequestHeader("Content-Type", "application/octet-stream");
      request.send(body ?? null);
    });
  }

  async function ask(one, ...call) {
    for (let attempt = 1; ; attempt++) {
      try {
        if (one.cancelled) throw Object.assign(new Error("Cancelled."), { ends: true });
        return await once(one, ...call);
      } catch (failure) {
        if (failure.ends || attempt === ATTEMPTS) throw failure;
        await new Promise((resolve) => { one.wake = resolve; setTimeout(resolve, 500 * 2 ** attempt); });
      }
    }
  }

  async function send(one) {
    const { file, name } = one, type = file.type || "application/octet-stream";
    const size = Math.max(PART, Math.ceil(file.size / MOST_PARTS));
    if (file.size <= size) return ask(one, "PUT", { name, type }, file.slice());
    one.upload ??= (await ask(one, "POST", {}, new URLSearchParams({ name, type }))).upload;
    const { upload } = one;
    while (one.sent < file.size) {
      const part = one.etags.length + 1;
      one.etags.push((await ask(one, "PUT", { name, upload, part }, file.slice(one.sent, one.sent + size))).etag);
      one.sent = Math.min(file.size, part * size);
    }
    const etags = one.etags.join("\n");
    return ask(one, "POST", {}, new URLSearchParams({ name, upload, etags }));
  }

  // Whether nothing of it is kept.
  async function discard(one) {
    const { name, upload } = one;
    Object.assign(one, { upload: undefined, etags: [], sent: 0 });
    if (!upload) return true;
    const abort = () => fetch(`${form.action}?${new URLSearchParams({ name, upload })}`, {
      method: "DELETE", headers: { "X-Csrf": csrf.value }, keepalive: true,
    }).catch(() => undefined);
    const answer = await abort();
    // A part that was on its way may have come after it.
    if (one.cancelled) setTimeout(abort, 3000);
    return answer !== undefined && (answer.ok || answer.status === 404);
  }

  async function work() {
    if (working) return;
    working = true;
    addEventListener("beforeunload", stay);
    for (let one; (one = all.find((each) => each.state === "waits")); ) {
      one.state = "goes";
      draw(one);
      try {
        await send(one);
        one.state = "done";
        one.reason = "It is there.";
      } catch (failure) {
        // Who is logged out may log in and go on.
        const kept = [401, 403].includes(failure.status) && /logged out|too long/.test(failure.message);
        const gone = failure.ends && !kept ? await discard(one) : true;
        one.state = one.cancelled ? "cancelled" : "failed";
        one.reason = one.cancelled ? "Cancelled." : failure.message;
        if (!gone) one.reason += " What had come of it is removed within seven days.";
      }
      draw(one);
    }
    working = false;
    removeEventListener("beforeunload", stay);
    window.readAgain?.();
  }

  const stay = (event) => event.preventDefault();
  addEventListener("pagehide", () => all.forEach((one) => one.upload && one.state !== "done" && discard(one)));

  function show(one, sent) {
    const share = one.file.size ? Math.floor((100 * sent) / one.file.size) : 0;
    one.bar.value = share;
    one.text.textContent = share < 100 ? `${share} %` : "All is sent; it is put together.";
  }

  function draw(one) {
    one.row.dataset.state = one.state;
    one.bar.hidden = one.state !== "goes";
    one.text.className = one.state === "failed" ? "error" : "";
    one.text.textContent = { waits: "Waits.", goes: "0 %" }[one.state] ?? one.reason;
    if (one.state === "goes") show(one, one.sent);
    one.again.hidden = one.state !== "failed";
    const ends = one.state === "failed" || one.state === "waits" || one.state === "goes";
    if (!ends && document.activeElement === one.cancel) chosen.focus();
    one.cancel.hidden = !ends;
    const count = (state) => all.filter((each) => each.state === state).length;
    const parts = [`${count("done")} of ${all.length} ${all.length === 1 ? "file is" : "files are"} there`];
    if (count("failed")) parts.push(`${count("failed")} failed`);
    if (count("cancelled")) parts.push(`${count("cancelled")} cancelled`);
    said.textContent = `${parts.join(", ")}.`;
  }

  function add(file) {
    const one = { file, name: form.elements.prefix.value + file.name, state: "waits", sent: 0, etags: [] };
    const make = (kind, text, label) => {
      const made = document.createElement(kind);
      made.textContent = text;
      if (label) made.setAttribute("aria-label", `${label} ${file.name}`);
      return made;
    };
    one.row = make("li", "");
    one.bar = make("progress", "", "How much is sent of");
    one.bar.max = 100;
    one.text = make("span", "");
    one.again = make("button", "Send again", "Send again:");
    one.cancel = make("button", "Cancel", "Cancel");
    for (const button of [one.again, one.cancel]) Object.assign(button, { type: "button", className: "small" });
    one.cancel.onclick = async () => {
      one.cancelled = true;
      one.request?.abort();
      one.wake?.();
      if (one.state === "goes") return;
      const gone = await discard(one);
      Object.assign(one, { state: "cancelled", reason: gone ? "Cancelled." : "Cancelled. What had come of it is removed within seven days." });
      draw(one);
    };
    one.again.onclick = async () => {
      one.state = "waits";
      draw(one);
      one.cancel.focus();
      // Who has logged in since has another mark for forms.
      const page = await fetch(location.href).then((answer) => (answer.redirected ? "" : answer.text()), () => "");
      const fresh = new DOMParser().parseFromString(page, "text/html").querySelector(`#${place.id} [name=csrf]`);
      if (fresh) csrf.value = fresh.value;
      work();
    };
    one.row.append(make("bdi", one.name), one.bar, one.text, one.again, one.cancel);
    list.append(one.row);
    all.push(one);
    draw(one);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    [...chosen.files].forEach(add);
    chosen.value = "";
    work();
  });
  chosen.addEventListener("change", () => form.requestSubmit());
  form.querySelector("button").hidden = true;

  const isFiles = (event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    place.dataset.over = "";
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) delete place.dataset.over; });
  document.addEventListener("drop", (event) => {
    delete place.dataset.over;
    if (!isFiles(event)) return;
    event.preventDefault();
    const isFolder = [...event.dataTransfer.items].map((each) => Boolean(each.webkitGetAsEntry?.()?.isDirectory));
    [...event.dataTransfer.files].forEach((file, n) => isFolder[n] || add(file));
    work();
    if (isFolder.includes(true)) said.textContent = "Folders are not sent: open them, and take the files in them.";
  });
}
