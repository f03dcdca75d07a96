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

// A player's pictures, but the first, come when a reader turns to it.
const showPlayer = (player, pictures) => {
  pictures.forEach((picture, k) => { player.frames[k].src = picture; });
  player.set_frame(player.current_frame);
};
for (const event of ["pointerover", "pointerdown", "focusin"]) {
  document.addEventListener(event, (touched) => {
    const image = touched.target.closest?.(".animation")?.querySelector("img[data-frames]");
    if (!image) return;
    const script = document.createElement("script");
    script.src = image.dataset.frames;
    delete image.dataset.frames;
    document.head.append(script);
  });
}
