// A picture opens at its full size: a click or Enter opens it, any click or Esc closes it.
document.addEventListener("DOMContentLoaded", () => {
  const pictures = [...document.querySelectorAll(".bd-article img")].filter((picture) => !picture.closest("a, .animation"));
  if (!pictures.length) return;
  const dialog = document.createElement("dialog");
  const close = document.createElement("button");
  const large = document.createElement("img");
  dialog.className = "picture";
  dialog.ariaLabel = "Picture at full size";
  close.ariaLabel = "Close";
  close.textContent = "×";
  dialog.append(close, large);
  dialog.addEventListener("click", () => dialog.close());
  for (const picture of pictures) {
    picture.tabIndex = 0;
    picture.role = "button";
    picture.ariaHasPopup = "dialog";
    const open = () => {
      if (!dialog.isConnected) document.body.append(dialog);
      large.src = picture.src;
      large.alt = picture.alt;
      dialog.style.filter = getComputedStyle(picture).filter;
      dialog.showModal();
    };
    picture.addEventListener("click", open);
    picture.addEventListener("keydown", (pressed) => {
      if (pressed.key !== "Enter" && pressed.key !== " ") return;
      pressed.preventDefault();
      open();
    });
  }
});
