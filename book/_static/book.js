// The ledger: filters, and the entry named in the address opens by itself.
document.addEventListener("DOMContentLoaded", () => {
  const filter = document.querySelector(".ledger-filter");
  if (!filter) return;
  const claims = [...document.querySelectorAll("details.claim")];
  const count = filter.querySelector("output");
  const apply = () => {
    const words = filter.querySelector("input").value.toLowerCase();
    const wanted = [...filter.querySelectorAll("select")].filter((select) => select.value);
    let shown = 0;
    for (const claim of claims) {
      const fits = wanted.every((select) => claim.dataset[select.name] === select.value);
      claim.hidden = !(fits && claim.textContent.toLowerCase().includes(words));
      shown += !claim.hidden;
    }
    count.textContent = `${shown} of ${claims.length} claims`;
  };
  filter.addEventListener("input", apply);
  apply();
  const open = () => {
    const claim = location.hash && document.getElementById(location.hash.slice(1));
    if (claim && claim.matches("details.claim")) { claim.open = true; claim.scrollIntoView(); }
  };
  window.addEventListener("hashchange", open);
  open();
});
