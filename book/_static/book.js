// The ledger: filters that the address keeps, and that unfold the chapters. An address of an entry
// leads to its page.
document.addEventListener("DOMContentLoaded", () => {
  const filter = document.querySelector(".ledger-filter");
  if (!filter) return;
  const claims = [...document.querySelectorAll("div.claim")];
  const texts = new Map(claims.map((claim) => [claim, `${claim.textContent} ${claim.dataset.words}`.toLowerCase()]));
  const chapters = new Set(claims.map((claim) => claim.closest("section")));
  const count = filter.querySelector("output");
  const fields = [...filter.querySelectorAll("select, input")];
  const value = (name) => fields.find((field) => field.name === name).value;
  const apply = () => {
    const words = value("words").toLowerCase().split(/\s+/);
    const wanted = fields.filter((field) => field.matches("select") && field.value);
    const fits = (claim) => wanted.every(({ name, value }) => claim.dataset[name].split(" ").includes(value))
      && (value("status") || claim.dataset.status !== "planned")
      && words.every((word) => texts.get(claim).includes(word));
    claims.forEach((claim) => { claim.hidden = !fits(claim); });
    const shown = claims.filter((claim) => !claim.hidden);
    chapters.forEach((chapter) => {
      chapter.hidden = !shown.some((claim) => chapter.contains(claim));
      chapter.querySelector("details").open = fields.some((field) => field.value);
    });
    count.textContent = `${shown.length} of ${claims.length} claims`;
  };
  filter.addEventListener("input", () => {
    apply();
    const kept = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    history.replaceState(null, "", `#${kept}`);
  });
  const follow = () => {
    const link = document.getElementById(location.hash.slice(1))?.querySelector("div.claim > a");
    if (link) {
      location.replace(link.href);
    } else if (location.hash.includes("=")) {
      const kept = new URLSearchParams(location.hash.slice(1));
      fields.forEach((field) => { field.value = kept.get(field.name) ?? ""; });
    }
    apply();
  };
  window.addEventListener("hashchange", follow);
  follow();
});

// What the address names opens: an erratum, an entry of the ledger and its check, a function of the library.
const openNamed = () => {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.matches("details")) named.open = true;
  for (const details of named?.querySelectorAll("details.evidence") ?? []) details.open = true;
  if (named?.matches("dt.sig")) {
    for (const details of [named.closest("details"), named.nextElementSibling.querySelector("details")])
      if (details) details.open = true;
    named.scrollIntoView();
  }
};
document.addEventListener("DOMContentLoaded", openNamed);
window.addEventListener("hashchange", openNamed);

// On paper nothing unfolds: proofs, solutions, errata, entries of the ledger and all rows stand open.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details:is(.sd-dropdown, .erratum, .reason, .claims, .claim-entry, .more, :has(> .protocol), .hide:has(figure)):not([open])")) {
    fold.open = true;
    fold.dataset.folded = "";
  }
});
addEventListener("afterprint", () => {
  for (const fold of document.querySelectorAll("details[data-folded]")) {
    fold.open = false;
    delete fold.dataset.folded;
  }
});
