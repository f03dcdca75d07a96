// The map: what a claim rests on and what rests on it light up under the pointer and with the focus;
// the filters fade the other claims, and hide their rows in the table.
document.addEventListener("DOMContentLoaded", () => {
  const filter = document.querySelector(".claim-map-filter");
  const output = filter?.querySelector("output");
  const fields = [...(filter?.querySelectorAll("select") ?? [])];
  const all = document.querySelectorAll(".claim-map a, .claim-map-table tr[id]");

  const summary = () => {
    const shown = document.querySelectorAll(".claim-map a:not(.out)").length;
    return `${shown} claims`;
  };
  const say = (words) => { if (output) output.textContent = words; };

  for (const svg of document.querySelectorAll(".claim-map svg")) {
    const claims = new Map([...svg.querySelectorAll("a")].map((claim) => [claim.dataset.n, claim]));
    const below = new Map(), above = new Map([...claims.keys()].map((n) => [n, []]));
    for (const [n, claim] of claims) {
      below.set(n, claim.dataset.uses.split(" ").filter(Boolean));
      for (const used of below.get(n)) above.get(used).push(n);
    }
    const reach = (start, next) => {
      const found = new Set(), waiting = [...next.get(start)];
      while (waiting.length) {
        const n = waiting.pop();
        if (!found.has(n)) { found.add(n); waiting.push(...next.get(n)); }
      }
      return found;
    };
    const light = (claim) => {
      const start = claim.dataset.n;
      const reached = { below: reach(start, below), above: reach(start, above) };
      svg.classList.add("lit");
      for (const [n, other] of claims) other.classList.toggle("on", n === start);
      for (const [side, found] of Object.entries(reached)) {
        for (const [n, other] of claims) other.classList.toggle(side, found.has(n));
        const within = (n) => n === start || found.has(n);
        for (const line of svg.querySelectorAll("path"))
          line.classList.toggle(side, line.dataset.e.split(" ").every(within));
      }
      const count = (found, next) => `${found.size} (${next.get(start).length} at once)`;
      say(`${claim.querySelector("title").textContent}. It rests on ${count(reached.below, below)}; `
        + `on it rest ${count(reached.above, above)}.`);
    };
    const dim = () => {
      svg.classList.remove("lit");
      for (const part of svg.querySelectorAll(".on, .below, .above"))
        part.classList.remove("on", "below", "above");
      say(summary());
    };
    for (const claim of claims.values()) {
      claim.addEventListener("pointerenter", () => light(claim));
      claim.addEventListener("focus", () => light(claim));
      claim.addEventListener("pointerleave", dim);
      claim.addEventListener("blur", dim);
    }
  }

  const apply = () => {
    const wanted = fields.filter((field) => field.value);
    for (const claim of all) {
      const fits = wanted.every(({ name, value }) => claim.dataset[name] === value);
      if (claim.matches("tr")) claim.hidden = !fits;
      else claim.classList.toggle("out", !fits);
    }
    say(summary());
  };
  if (filter) {
    filter.hidden = false;
    filter.addEventListener("input", apply);
    apply();
  }
});
