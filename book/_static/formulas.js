// The text comes first: MathJax, heavier than any page, is fetched when the text has been drawn, and
// typesets what a reader comes near to. `typesetFormulas` does not wait for that: all there is, now.
const MATHJAX = document.querySelector("script[type='text/later']");  // lib/booksite/lazy_loading.py
if (MATHJAX) {
  const waiting = new Set(document.querySelectorAll(".math, .mathjax_process, .tex2jax_process, .output_area"));
  let loaded;
  let turn = Promise.resolve();
  const load = () => loaded ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = MATHJAX.src;
    script.onload = () => window.MathJax.startup.promise.then(done, failed);
    script.onerror = () => {
      waiting.forEach((formula) => { formula.removeAttribute("style"); });  // then their sources are read
      failed(new Error("MathJax cannot be fetched"));
    };
    document.head.append(script);
  });
  const typeset = (formulas) => {
    formulas.forEach((formula) => { waiting.delete(formula); near.unobserve(formula); });
    if (formulas.length) turn = turn.then(() => window.MathJax.typesetPromise(formulas));
    return turn;
  };
  const near = new IntersectionObserver((entries) => {
    typeset(entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target));
  }, { rootMargin: "500px 0px" });
  const start = () => load().then(() => waiting.forEach((formula) => near.observe(formula)));

  window.typesetIn = (element) => load().then(() => typeset([element]));
  window.typesetFormulas = () => load().then(() => typeset([...waiting]));
  addEventListener("beforeprint", window.typesetFormulas);
  if (PerformanceObserver.supportedEntryTypes?.includes("paint"))
    new PerformanceObserver((_, observer) => { observer.disconnect(); start(); }).observe({ type: "paint", buffered: true });
  else
    addEventListener("load", start);

  // The menu of a formula is a third of MathJax: the first right click fetches it, and typesets again.
  addEventListener("contextmenu", (click) => {
    const place = click.target.closest("mjx-container")?.parentElement;
    if (!place || window.MathJax._.ui?.menu) return;
    click.preventDefault();
    turn = turn.then(() => window.MathJax.loader.load("ui/menu")).then(async () => {
      const { config, startup } = window.MathJax;
      const formulas = [...startup.document.math].map(({ typesetRoot }) => typesetRoot.parentElement);
      startup.document.removeFromDocument(true);
      startup.document = startup.getHandler().create(document, { ...config.options, InputJax: startup.input, OutputJax: startup.output });
      await window.MathJax.typesetPromise(formulas);
      place.querySelector("mjx-container").dispatchEvent(new MouseEvent("contextmenu", click));
    });
  });
}
