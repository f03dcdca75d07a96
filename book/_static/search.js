// The search page: where a word is a title, or the name of a statement, before where it only occurs.
Scorer.score = ([page, , anchor, , score]) =>
  score + (anchor ? 5 : 0) + (/\/back\/(notation|glossary|errata)/.test(page) ? 2 : 0)
    - (/\/(companions|back)\//.test(page) ? 1 : 0);
Scorer.objPrio[0] = Scorer.objPrio[1] = 0;  // modules and functions: after the statement of that name

// A title is found by its plural, too.
const parse = Search._parseQuery;
Search._parseQuery = (query) => {
  const [asked, ...rest] = parse(query);
  return [asked.trim().replace(/s$/i, ""), ...rest];
};

// A title that the query contains is found, too: "dropout in an LSTM" contains "LSTM".
const perform = Search._performSearch;
Search._performSearch = (query, ...words) => {
  const { alltitles, docnames, filenames, titles } = Search._index;
  const singular = (text) => text.toLowerCase().replace(/[()?,]+|s\b/g, " ").replace(/ +/g, " ").trim();
  const asked = ` ${singular(query)} `;
  const found = Object.entries(alltitles)
    .filter(([title]) => title.length > 2 && asked.includes(` ${singular(title)} `))
    .filter(([title]) => ![singular(query), "dropout"].includes(singular(title)))  // all ask about that
    .flatMap(([title, places]) => places.map(([file, id]) => {
      const whole = titles[file] === title ? title : `${titles[file]} > ${title}`;
      const score = 9 + 6 * title.length / asked.length;
      return [docnames[file], whole, id ? `#${id}` : "", null, score, filenames[file]];
    }));
  found.forEach((result) => { result[4] = Scorer.score(result); });
  const best = new Map();  // of each place
  [...perform(query, ...words), ...found].sort((one, two) => one[4] - two[4])
    .forEach((result) => { const place = result[0] + result[2]; best.delete(place); best.set(place, result); });
  return [...best.values()];  // the best one last
};

// Excerpts are made from whole pages: each is loaded once, when its result comes into sight.
const [load, pages] = [window.fetch, new Map()];
window.fetch = async (address) => {
  await null;  // then the result stands in the list
  const result = Search.output.lastElementChild;
  await new Promise((seen) => new IntersectionObserver(([entry], observer) => {
    if (!entry.isIntersecting) return;
    observer.disconnect();
    seen();
  }).observe(result));
  if (!pages.has(address)) pages.set(address, load(address));
  return (await pages.get(address)).clone();
};

// Excerpts without code, without what was measured, and without the source of formulas.
const wholeText = Search.htmlToText;
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const unread = ".proof .caption-number, .cell_input, .cell_output, .toctree-wrapper, .in-ledger, #jb-print-docs-body, .page-head, .bd-header-article, .above-input > summary, details:has(> .page-route), .path-end";
  let named = anchor ? page.querySelector(anchor) : null;
  if (named?.matches("span")) {  // a label, before the title that it names
    named = named.closest("section");
    anchor = `#${named.id}`;
  }
  page.querySelectorAll(unread).forEach((element) => element.contains(named || null) || element.remove());
  page.querySelectorAll(".math").forEach((formula) => {
    const source = formula.textContent.replace(/\\[()[\]]|\s+/g, " ").trim();
    formula.textContent = /[\\{}]/.test(source) ? "…" : source;
  });
  return wholeText(page.documentElement.outerHTML, anchor).replace(/\s+/g, " ").trim() || "…";
};

// The ledger can be asked the same.
const asked = new URLSearchParams(location.search).get("q");
if (asked) {
  const link = document.createElement("a");
  link.href = `book/back/ledger.html#${new URLSearchParams({ words: asked })}`;
  link.textContent = `Look for “${asked}” among the claims of the ledger`;
  document.getElementById("search-results").before(link);
}
