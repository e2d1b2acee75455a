"use strict";
// Everything works without this: it only saves reloading the page.
async function refresh() {
  const selecting = !document.getSelection().isCollapsed;
  if (document.hidden || selecting) return;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const scrolled = [...document.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.querySelectorAll(".scroll").forEach((each, i) => { each.scrollLeft = scrolled[i] || 0; });
    document.body.classList.remove("stale");
  } catch {
    document.body.classList.add("stale");
  }
}
setInterval(refresh, 5000);
