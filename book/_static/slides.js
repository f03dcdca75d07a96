// A page with ?slides: a screen for each section, statement, card and picture, turned with the arrow keys.
const flatten = (section) => [...section.children].flatMap((part) => part.matches("section") ? flatten(part) : [part]);
const PICTURE = "figure, .hand, .claim-card";
const isPicture = (block) => Boolean(block?.matches(PICTURE) || block?.querySelector(PICTURE));
const showSlides = (asked) => {
  const blocks = flatten(document.querySelector("article section")).filter((block) => block.checkVisibility());
  let count = 0, at, isIntroduced = false;  // the words before a picture stand with it
  const slides = blocks.map((block, k) => {
    if (!k || block.matches("h2, .proof") || isPicture(blocks[k - 1]) || (isPicture(block) && !isIntroduced)) {
      count += 1;
      isIntroduced = block.matches("p");
    } else if (isPicture(block)) isIntroduced = false;
    return count;
  });
  const nav = Object.assign(document.createElement("nav"), { className: "slide-controls", ariaLabel: "Slides" });
  nav.innerHTML = `<button type="button">Back</button> <output></output> <button type="button">Next</button> <a href="${location.pathname}">Leave</a>`;
  const [back, output, next, leave] = nav.children;
  const show = (slide) => {
    at = Math.min(Math.max(slide, 1), count);
    blocks.forEach((block, k) => block.classList.toggle("off", slides[k] !== at));
    output.textContent = `${at} of ${count}`;
    history.replaceState(null, "", `?slides=${at}`);
    scrollTo(0, 0);
  };
  back.addEventListener("click", () => show(at - 1));
  next.addEventListener("click", () => show(at + 1));
  document.addEventListener("keydown", ({ key, target }) => {
    if (target.closest("input, select, [tabindex]:not(.slide-controls *), dialog[open]")) return;  // a picture has keys of its own
    if (["ArrowRight", "PageDown"].includes(key)) show(at + 1);
    else if (["ArrowLeft", "PageUp"].includes(key)) show(at - 1);
    else if (key === "Escape") leave.click();
  });
  document.body.append(nav);
  show(asked);
};
const slideAsked = new URLSearchParams(location.search).get("slides");
if (slideAsked !== null) {
  document.documentElement.classList.add("slides");
  addEventListener("load", () => showSlides(Number(slideAsked) || 1));
}
