// "I have read this page": kept in this browser, ticked in the sidebar and on the reading paths.
const siteRoot = new URL(document.documentElement.dataset.content_root, location.href).pathname;
const pageOf = (link) => link.pathname.slice(siteRoot.length).replace(/\.html$/, "");
const readPages = () => new Set(JSON.parse(localStorage.getItem("read") ?? "[]"));

const showRead = () => {
  const read = readPages();
  const links = ".bd-sidebar-primary nav a, details.route li > a:first-child, .page-route span > a";
  for (const link of document.querySelectorAll(links)) link.classList.toggle("read", read.has(pageOf(link)));
  for (const path of document.querySelectorAll("details.route")) {
    const steps = path.querySelectorAll("li").length, done = path.querySelectorAll("li > a.read").length;
    path.querySelector("summary").dataset.read = done ? `${done} of ${steps} read` : "";
  }
  for (const button of document.querySelectorAll(".read-mark button:first-child")) button.ariaPressed = read.has(pageOf(location));
  for (const button of document.querySelectorAll(".read-mark button:last-child")) button.hidden = !read.size || !navigator.clipboard;
};

document.addEventListener("DOMContentLoaded", () => {
  const mark = document.createElement("p");
  mark.className = "read-mark";
  mark.innerHTML = '<button type="button">I have read this page</button> <button type="button">Copy the list of pages read</button>';
  const [toggle, copy] = mark.children;
  toggle.addEventListener("click", () => {
    const read = readPages(), page = pageOf(location);
    if (!read.delete(page)) read.add(page);
    localStorage.setItem("read", JSON.stringify([...read]));
    showRead();
  });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText([...readPages()].join("\n"));
    copy.textContent = "Copied";
  });
  if (document.querySelector(".prev-next-area")) document.querySelector("article.bd-article").append(mark);
  showRead();
});
window.addEventListener("pageshow", showRead);  // also by the browser's "back"
window.addEventListener("storage", showRead);
