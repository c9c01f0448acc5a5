"use strict";

// Sends a file to where the API says, and shows how much of it is there.
for (const place of document.querySelectorAll("[data-upload]")) {
  const form = place.closest("form"), file = place.querySelector("input[type=file]");
  const bar = place.querySelector("progress"), said = place.querySelector("[role=status]");
  place.hidden = false;
  form.addEventListener("submit", async (event) => {
    if (!file.files.length || event.submitter?.name === "preview") return;
    event.preventDefault();
    const answer = await fetch(form.action, {
      method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Fragment": "json" },
    });
    const told = answer.headers.get("content-type")?.includes("json") ? await answer.json() : {};
    if (!told.upload_to) {
      const reasons = told.errors?.map((each) => `${each.field ? each.field + ": " : ""}${each.reason}`);
      said.textContent = reasons?.join("; ") ?? "This page was open for too long.";
      return;
    }
    send(new URL(told.upload_to).pathname, file.files[0], told.image.id);
  });

  function send(url, data, id) {
    const request = new XMLHttpRequest();
    bar.hidden = false;
    request.upload.onprogress = (event) => {
      bar.value = (100 * event.loaded) / event.total;
      said.textContent = `${Math.floor(bar.value)} % of ${data.name} is sent.`;
    };
    request.onload = () => {
      if (request.status === 200) location.assign(`/console/images/${id}`);
      else said.textContent = `The file was refused: ${request.responseText}`;
    };
    request.onerror = () => { said.textContent = "The connection broke: send it again."; };
    request.open("PUT", url);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.send(data);
  }
}
