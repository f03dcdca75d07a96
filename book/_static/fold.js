// The switch in the header folds the code of all cells to a line each, on every page until it is
// turned back. book.css hides the code of a page that loads folded, so that nothing flickers.
const isCodeFolded = () => localStorage.getItem("code") === "folded";
const markPage = () => { document.documentElement.dataset.code = isCodeFolded() ? "folded" : "open"; };
const foldCell = (cell) => {
  const fold = document.createElement("details");
  const line = document.createElement("summary");
  const lines = cell.querySelector("pre").textContent.trimEnd().split("\n").length;
  line.textContent = lines === 1 ? "Code, 1 line" : `Code, ${lines} lines`;
  fold.className = "folded-code";
  cell.replaceWith(fold);
  fold.append(line, cell);
};
const showCode = () => {
  markPage();
  for (const button of document.querySelectorAll(".btn-fold-code-button")) button.ariaPressed = isCodeFolded();
  if (isCodeFolded()) {
    document.querySelectorAll("div.cell > div.cell_input").forEach(foldCell);
    for (const hidden of document.querySelectorAll("div.cell > details.hide")) hidden.open = false;
  } else for (const fold of document.querySelectorAll(".folded-code")) fold.replaceWith(fold.lastElementChild);
};
const switchCode = () => {
  localStorage.setItem("code", isCodeFolded() ? "open" : "folded");
  showCode();
};
markPage();
document.addEventListener("DOMContentLoaded", showCode);
