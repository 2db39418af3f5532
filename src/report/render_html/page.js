"use strict";
for (const plate of document.querySelectorAll(".plate")) {
  // The legend hides and shows a series in all charts of its plate.
  for (const button of plate.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const line of plate.querySelectorAll(".line")) {
        if (line.dataset.key === button.dataset.key) line.toggleAttribute("hidden", !shown);
      }
    });
  }
  const names = [...plate.querySelectorAll(".legend button")].map((button) => button.textContent.trim());
  for (const canvas of plate.querySelectorAll(".canvas")) {
    const svg = canvas.querySelector("svg");
    const tip = canvas.querySelector(".tip");
    const guide = canvas.querySelector(".guide");
    const lines = [...canvas.querySelectorAll(".line")].map((element) => ({
      element,
      name: names[Number(element.dataset.key)],
      x: element.dataset.x.split(" ").map(Number),
      at: element.dataset.at.split("\n"),
      says: element.dataset.says.split("\n"),
    }));
    const hide = () => {
      tip.hidden = true;
      guide.setAttribute("visibility", "hidden");
    };
    const show = (event) => {
      const box = svg.getBoundingClientRect();
      const wide = svg.viewBox.baseVal.width;
      const pointer = ((event.clientX - box.left) / box.width) * wide;
      const shown = lines.filter((line) => !line.element.hasAttribute("hidden"));
      let nearest = null;
      for (const line of shown) {
        line.x.forEach((x, index) => {
          const distance = Math.abs(x - pointer);
          if (nearest === null || distance < nearest.distance) nearest = { distance, x, at: line.at[index] };
        });
      }
      if (nearest === null || nearest.distance > wide / 12) return hide();
      const title = document.createElement("b");
      title.textContent = nearest.at;
      const rows = [title];
      for (const line of shown) {
        // Of several points at one position the last is shown.
        const index = line.x.lastIndexOf(nearest.x);
        if (index < 0) continue;
        const row = document.createElement("div");
        row.className = "row " + [...line.element.classList].find((name) => /^c[\db]$/.test(name));
        row.append(document.createElement("i"), line.name + ": " + line.says[index]);
        rows.push(row);
      }
      tip.replaceChildren(...rows);
      tip.hidden = false;
      guide.setAttribute("x1", nearest.x);
      guide.setAttribute("x2", nearest.x);
      guide.setAttribute("visibility", "visible");
      // The tip stands beside the guide, on the side with more room.
      const left = (nearest.x / wide) * box.width;
      const width = tip.offsetWidth;
      const beside = left > box.width / 2 ? left - width - 10 : left + 10;
      tip.style.left = Math.max(0, Math.min(beside, box.width - width)) + "px";
      tip.style.top = Math.max(0, event.clientY - box.top - tip.offsetHeight - 12) + "px";
    };
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    svg.addEventListener("pointerleave", hide);
  }
}
// An explanation opens beside its word; on a phone it stays at the lower edge, where the style sheet puts it.
for (const term of document.querySelectorAll(".term")) {
  const told = term.querySelector(".told");
  const place = () => {
    if (innerWidth < 640) return;
    const word = term.getBoundingClientRect();
    told.style.right = told.style.bottom = "auto";
    const below = word.bottom + 6;
    const left = Math.min(word.left, innerWidth - told.offsetWidth - 16);
    told.style.left = Math.max(8, left) + "px";
    told.style.top = (below + told.offsetHeight < innerHeight ? below : Math.max(8, word.top - told.offsetHeight - 6)) + "px";
  };
  term.addEventListener("pointerenter", place);
  term.addEventListener("focus", place);
  term.addEventListener("keydown", (event) => {
    if (event.key === "Escape") term.blur();
  });
}
// Paper cannot unfold anything. The charts' values stay folded: they are in the run folder's files.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = !details.closest("figure");
});
