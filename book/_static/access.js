// What is wider than its place fades at the edge where it is cut (book.css), and keys can scroll it.
const WIDE = "div.math mjx-container, .bd-article :is(table, pre, .frame, .claim-card, .erratum, .claim-entry)";
const cutSides = ({ scrollWidth, clientWidth, scrollLeft }) => {
  if (scrollWidth <= clientWidth + 1) return "";
  return `${scrollLeft > 1 ? "left" : ""} ${scrollLeft < scrollWidth - clientWidth - 1 ? "right" : ""}`.trim();
};
const markCut = (element, sides) => {
  if (sides) {
    element.tabIndex = 0;
    element.dataset.cut = sides;
  } else if (element.dataset.cut) {
    element.removeAttribute("tabindex");
    delete element.dataset.cut;
  }
};
// A formula in a sentence cannot be broken; where it is wider than the line it scrolls.
const isWide = (formula) => {
  const line = formula.closest("p, li, dd, td, th, figcaption");
  return line && formula.querySelector("mjx-math")?.offsetWidth > line.clientWidth;
};
const look = () => {
  const inline = [...document.querySelectorAll("span.math mjx-container")];
  const wide = inline.filter(isWide);  // all is read before anything is written
  inline.forEach((formula) => { formula.classList.toggle("wide", wide.includes(formula)); });
  const others = inline.filter((formula) => !wide.includes(formula)).map((formula) => [formula, ""]);
  const seen = [...wide, ...document.querySelectorAll(WIDE)].map((element) => [element, cutSides(element)]);
  [...others, ...seen].forEach(([element, sides]) => markCut(element, sides));
};
let due = false;
const lookSoon = () => {
  if (!due) requestAnimationFrame(() => { due = false; look(); });
  due = true;
};
document.addEventListener("DOMContentLoaded", () => {
  const article = document.querySelector("article.bd-article");
  if (!article) return;
  // formulas arrive, folds open, filters hide
  new MutationObserver(lookSoon).observe(article, { childList: true, subtree: true, attributeFilter: ["open", "hidden"] });
  article.addEventListener("click", lookSoon);  // folds of the theme change a class
  article.addEventListener("scroll", ({ target }) => {
    if (target.matches("[data-cut]")) markCut(target, cutSides(target));
  }, { capture: true, passive: true });
  window.addEventListener("resize", lookSoon);
  lookSoon();
});

document.addEventListener("DOMContentLoaded", () => {
  // The arrows of the theme's sidebar have no name.
  for (const arrow of document.querySelectorAll(".bd-sidenav summary"))
    arrow.ariaLabel = `Pages of ${arrow.closest("li").querySelector("a").textContent}`;
  // A click on the sign of a solution goes to its exercise, and does not open the fold.
  for (const sign of document.querySelectorAll(".to-exercise"))
    sign.addEventListener("click", (click) => click.stopPropagation());
});
