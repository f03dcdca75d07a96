// A link to a numbered result shows what it says, under the pointer or the focus (lib/booksite/auto_links.py).
const PREVIEWS = JSON.parse(document.getElementById("previews")?.textContent ?? "{}");
const card = document.createElement("div");
let waiting, shownFor;

function hide() {
  clearTimeout(waiting);
  card.hidden = true;
  shownFor?.removeAttribute("aria-describedby");
  shownFor = undefined;
}

function place() {
  if (!shownFor) return;
  const at = shownFor.getClientRects()[0], { width, height } = card.getBoundingClientRect();
  const below = at.bottom + height + 8 < innerHeight || at.top < height + 8;
  card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
  card.style.top = `${below ? at.bottom + 4 : at.top - height - 4}px`;
}

function show(link) {
  hide();
  shownFor = link;
  card.innerHTML = PREVIEWS[link.getAttribute("href")];
  card.hidden = false;
  link.setAttribute("aria-describedby", card.id);
  place();
  window.typesetIn?.(card).then(place);
}

const later = (action, delay) => { clearTimeout(waiting); waiting = setTimeout(action, delay); };
if (Object.keys(PREVIEWS).length) {
  card.id = "preview";
  card.className = "claim-preview";
  card.setAttribute("role", "tooltip");
  card.hidden = true;
  document.body.append(card);
  for (const link of document.querySelectorAll("a.to-claim")) {
    link.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && later(() => show(link), 300));
    link.addEventListener("pointerleave", () => later(hide, 200));
    link.addEventListener("focus", () => link.matches(":focus-visible") && show(link));
    link.addEventListener("blur", hide);
  }
  card.addEventListener("pointerenter", () => clearTimeout(waiting));
  card.addEventListener("pointerleave", () => later(hide, 200));
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("scroll", () => {  // a key that leads to a link also scrolls to it
    if (document.activeElement === shownFor) place();
    else if (!card.matches(":hover")) hide();
  }, { passive: true });
}
