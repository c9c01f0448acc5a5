// What pages look like beyond their style sheet: the theme, the reader's time zone, copied texts, and
// a key for the search. Loaded before the page is drawn, so that it is drawn in the right theme.
"use strict";

(() => {
  const root = document.documentElement;
  const kept = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const keep = (theme) => {
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Then it holds for this page.
    }
  };
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  if (kept()) root.dataset.theme = kept();

  const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

  function localTimes(within) {
    for (const time of within.querySelectorAll("time[datetime]:not([data-local])")) {
      const moment = new Date(time.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      time.dataset.local = "";
      time.title = `${time.dateTime.replace("T", " ").replace("Z", "")} UTC`;
      time.textContent = shown.format(moment);
    }
  }

  window.dressTimes = localTimes;

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy) ?? button.parentElement.querySelector("pre, code");
    const said = button.textContent;
    try {
      await navigator.clipboard.writeText(source.value ?? source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => (button.textContent = said), 2000);
  }

  // A toast lies over the page, so that nothing below it moves.
  window.toast = (text) => {
    const place = document.querySelector(".toasts");
    if (!place) return;
    const toast = document.createElement("p");
    toast.className = "toast";
    toast.textContent = text;
    place.append(toast);
    setTimeout(() => toast.remove(), 8000);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button) return;
    if (button.matches("[data-theme-switch]")) {
      root.dataset.theme = isDark() ? "light" : "dark";
      keep(root.dataset.theme);
      button.setAttribute("aria-pressed", String(isDark()));
    } else if (button.matches(".copy")) {
      copy(button);
    }
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable], .terminal");
    if (event.key !== "/" || typing || event.ctrlKey || event.altKey || event.metaKey) return;
    const search = document.querySelector(".search input");
    if (!search) return;
    event.preventDefault();
    search.focus();
  });

  document.addEventListener("DOMContentLoaded", () => {
    const active = document.querySelector(".tabs [aria-current]");
    active?.scrollIntoView({ block: "nearest", inline: "center" });
    // What only works with this script is only shown with it.
    for (const button of document.querySelectorAll("[data-theme-switch], .copy")) button.hidden = false;
    document.querySelector("[data-theme-switch]")?.setAttribute("aria-pressed", String(isDark()));
    localTimes(document);
    new MutationObserver((changes) => {
      for (const change of changes) if (change.addedNodes.length) localTimes(change.target);
    }).observe(document.body, { childList: true, subtree: true });
  });
})();
