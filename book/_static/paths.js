// Who came by a reading path (?path=NAME, kept for the session) sees its line unfolded and first, is
// told in the page what the path skips, and goes on along it at the foot (lib/booksite/learning_paths.py).
const madeOf = (tag, ...parts) => {
  const element = document.createElement(tag);
  element.append(...parts);
  return element;
};

// Before each run of sections that are not read: how the path goes on.
const markSkipped = (sections, reads, onward) => {
  const isIn = (section) => (link) => section.contains(document.getElementById(link.hash.slice(1)));
  const isRead = (section) => reads.some(isIn(section));
  sections.forEach((section, k) => {
    if (isRead(section)) return;
    section.classList.add("skipped");
    if (k && !isRead(sections[k - 1])) return;
    const next = sections.slice(k).find(isRead);
    const goal = next ? reads.find(isIn(next)) : onward;
    const note = madeOf("p", goal ? "Your path skips to " : "Your path leaves out the rest of this page.");
    if (goal) note.append(goal.cloneNode(true));
    note.className = "path-skip";
    section.before(note);
  });
};

document.addEventListener("DOMContentLoaded", () => {
  const name = new URLSearchParams(location.search).get("path") ?? sessionStorage.getItem("path");
  if (name) sessionStorage.setItem("path", name);
  const line = [...document.querySelectorAll(".page-route")].find(({ dataset }) => dataset.path === name);
  if (!line) return;
  const fold = line.parentElement;
  fold.open = true;
  fold.querySelector("summary").textContent = "Your path through the book";
  for (const other of fold.querySelectorAll(".page-route")) other.hidden = other !== line;
  const leave = madeOf("button", "Leave this path");
  leave.addEventListener("click", () => {
    sessionStorage.removeItem("path");
    location.replace(location.pathname);
  });
  line.append(" · ", leave);
  for (const [way, side] of Object.entries({ before: "left-prev", next: "right-next" })) {
    const link = line.querySelector(`.${way} a`), foot = document.querySelector(`.prev-next-area .${side}`);
    if (!link || !foot) continue;
    foot.href = link.href;
    foot.querySelector(".prev-next-subtitle").append(" on your path");
    foot.querySelector(".prev-next-title").textContent = link.textContent;
  }
  const end = document.querySelector(`.path-end > [data-path="${name}"]`);
  if (end) end.parentElement.open = true;
  const reads = [...line.querySelectorAll("a[href^='#']")].filter((link) => link.hash);
  const sections = [...fold.parentElement.querySelectorAll(":scope > section")];
  if (reads.length) markSkipped(sections, reads, line.querySelector(".next a"));
});
