"use strict";

// Files that are chosen, or dropped on the page, go into the bucket one after another, large ones by
// parts. What broke off goes on where it was; what is cancelled leaves nothing there.
for (const place of document.querySelectorAll("[data-uploads]")) {
  const form = place.querySelector("form"), chosen = form.elements.file, csrf = form.elements.csrf;
  const list = place.querySelector("ul"), said = place.querySelector("[role=status]");
  const PART = Number(place.dataset.part), MOST = Number(place.dataset.most), MOST_PARTS = 10000, ATTEMPTS = 6;
  const LEFT = " What had come of it is removed within seven days.";
  const all = [], queue = [], counts = {};
  let working = false, note = "";

  // The request's answer; throws what is to be said, with `ends` where it would be the same again.
  function once(one, method, query, body) {
    const asked = new URLSearchParams(query).toString();
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(), isPart = body instanceof Blob;
      const wait = () => Number(request.getResponseHeader("Retry-After")) * 1000;
      const fail = (reason, ends, goesOn) => reject(Object.assign(new Error(reason), { ends, goesOn, status: request.status, wait: wait() }));
      // What has come as a whole is not cancelled: its answer says what became of it.
      one.request = isPart ? request : undefined;
      request.upload.onload = () => { one.request = undefined; };
      request.upload.onprogress = (event) => isPart && show(one, one.sent + event.loaded);
      request.onerror = () => Promise.resolve(isPart && body.slice(0, 1).arrayBuffer()).then(
        () => fail("The connection broke.", false), () => fail("The file cannot be read any more.", true));
      request.onabort = () => fail("Cancelled.", true);
      request.onload = () => {
        let told = {};
        try { told = JSON.parse(request.responseText); } catch { /* No answer of ours. */ }
        if (request.status < 300) return resolve(told);
        const reasons = told.errors?.map((each) => each.reason).join("; ");
        fail(reasons || `The server answered ${request.status}.`, request.status < 500 && ![408, 429].includes(request.status) || request.status === 507, told.goes_on);
      };
      request.open(method, form.action + (asked && `?${asked}`));
      request.setRequestHeader("X-Csrf", csrf.value);
      if (isPart) request.setRequestHeader("Content-Type", "application/octet-stream");
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
        // Who is told to come later has done nothing wrong.
        if (failure.status === 429) attempt--;
        await new Promise((resolve) => { one.wake = resolve; setTimeout(resolve, failure.wait || 500 * 2 ** attempt); });
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
    // A part that was on its way may have come after it.
    if (one.cancelled) setTimeout(abort, 3000);
    for (let attempt = 1; ; attempt++) {
      const answer = await abort();
      if (answer !== undefined && (answer.ok || answer.status === 404)) return true;
      if (attempt === 3 || (answer !== undefined && answer.status < 500 && answer.status !== 429)) return false;
      await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt));
    }
  }

  async function work() {
    if (working) return;
    working = true;
    addEventListener("beforeunload", stay);
    for (let one, goesOn = false; !goesOn && (one = queue.shift()); ) {
      if (one.state !== "waits") continue;
      turn(one, "goes");
      try {
        await send(one);
        turn(one, "done", one.cancelled ? "It is there: all had come before it was cancelled." : "It is there.");
      } catch (failure) {
        // Who is logged out may log in and go on, with all that waits.
        goesOn = failure.goesOn && !one.cancelled;
        const gone = failure.ends && !goesOn ? await discard(one) : true;
        turn(one, one.cancelled ? "cancelled" : "failed", (one.cancelled ? "Cancelled." : failure.message) + (gone ? "" : LEFT));
      }
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

  function turn(one, state, reason) {
    counts[one.state]--;
    counts[state] = (counts[state] ?? 0) + 1;
    Object.assign(one, { state, reason });
    if (state === "failed") note = `${one.file.name}: ${reason}`;
    draw(one);
    tell();
  }

  function tell() {
    const parts = [`${counts.done ?? 0} of ${all.length} ${all.length === 1 ? "file is" : "files are"} there`];
    if (counts.failed) parts.push(`${counts.failed} failed`);
    if (counts.cancelled) parts.push(`${counts.cancelled} cancelled`);
    said.textContent = `${parts.join(", ")}. ${note}`.trim();
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
      one.text.textContent = "Cancelling.";
      one.request?.abort();
      one.wake?.();
      if (one.state === "goes") return;
      turn(one, "cancelled", "Cancelled." + ((await discard(one)) ? "" : LEFT));
    };
    one.again.onclick = async () => {
      note = "";
      turn(one, "waits");
      queue.unshift(one);
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
    counts.waits = (counts.waits ?? 0) + 1;
    if (file.size > MOST) return turn(one, "failed", `Files have at most ${MOST / 1024 ** 3} GiB.`);
    queue.push(one);
    draw(one);
  }

  function addAll(files) {
    note = "";
    files.forEach(add);
    tell();
    work();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const files = [...chosen.files];
    chosen.value = "";
    addAll(files);
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
    const items = [...event.dataTransfer.items].filter((each) => each.kind === "file");
    const isFolder = items.map((each) => Boolean(each.webkitGetAsEntry?.()?.isDirectory));
    addAll([...event.dataTransfer.files].filter((_, n) => !isFolder[n]));
    if (isFolder.includes(true)) note = "Folders are not sent: open them, and take the files in them.";
    tell();
  });
}
