// Who came by a reading path (?path=NAME, kept for the session) sees its line unfolded, is told in the
// page what the path skips, and goes on along it at the foot (lib/booksite/learning_paths.py).
const made = (tag, properties, ...parts) => {
  const element = Object.assign(document.createElement(tag), properties);
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
    const told = goal ? ["Your path skips to ", goal.cloneNode(true)] : ["Your path leaves out the rest of this page."];
    section.before(made("p", { className: "path-skip" }, ...told));
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
  const leave = made("button", { type: "button" }, "Leave this path");
  leave.addEventListener("click", () => { sessionStorage.removeItem("path"); location.replace(location.pathname); });
  line.append(" · ", leave);
  for (const [way, side] of Object.entries({ before: "left-prev", next: "right-next" })) {
    const link = line.querySelector(`.${way} a`), foot = document.querySelector(`.prev-next-area .${side}`);
    if (!link || !foot) continue;
    foot.href = link.href;
    foot.querySelector(".prev-next-subtitle").append(" on your path");
    foot.querySelector(".prev-next-title").textContent = link.textContent;
  }
  document.querySelector(`.path-end:has([data-path="${name}"])`)?.setAttribute("open", "");
  const reads = [...line.querySelectorAll("a[href^='#']")].filter((link) => link.hash);
  const sections = [...fold.parentElement.querySelectorAll(":scope > section")];
  if (reads.length) markSkipped(sections, reads, line.querySelector(".next a"));
});

// "I have read this page": kept in this browser, ticked in the sidebar and on the reading paths.
const siteRoot = new URL(document.documentElement.dataset.content_root, location.href).pathname;
const pageOf = ({ pathname }) => pathname.slice(siteRoot.length).replace(/\.html$/, "");
const readPages = () => new Set(JSON.parse(localStorage.getItem("read") ?? "[]"));
const toggle = made("button", { type: "button" }, "I have read this page");
const copy = made("button", { type: "button" }, "Copy the list of pages read");
const showRead = () => {
  const read = readPages();
  for (const link of document.querySelectorAll(".bd-sidebar-primary nav a, .route li > a:first-child, .page-route span > a"))
    link.classList.toggle("read", read.has(pageOf(link)));
  for (const path of document.querySelectorAll("details.route")) {
    const steps = path.querySelectorAll("li").length, done = path.querySelectorAll("li > a.read").length;
    path.querySelector("summary").dataset.read = done ? `${done} of ${steps} read` : "";
  }
  toggle.ariaPressed = read.has(pageOf(location));
  copy.hidden = !read.size || !navigator.clipboard;
};
toggle.addEventListener("click", () => {
  const read = readPages();
  if (!read.delete(pageOf(location))) read.add(pageOf(location));
  localStorage.setItem("read", JSON.stringify([...read]));
  showRead();
});
copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText([...readPages()].join("\n"));
  copy.textContent = "Copied";
});
if (document.querySelector(".prev-next-area"))
  document.querySelector("article.bd-article").append(made("p", { className: "read-mark" }, toggle, " ", copy));
for (const event of ["pageshow", "storage"]) window.addEventListener(event, showRead);  // also by the browser's "back"
