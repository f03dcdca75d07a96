// What only the page itself can tell: run in the browser, returns plain data.
(() => {
  const short = (text) => text.replace(/\s+/g, " ").trim().slice(0, 80);

  const typeset = () => [...(window.MathJax?.startup?.document?.math ?? [])];

  const label = (element) => {
    const formula = typeset().find((item) => item.typesetRoot?.contains(element));
    if (formula) return `formula "${short(formula.math)}"`;
    const id = element.id ? `#${element.id}` : "";
    const classes = [...element.classList].map((name) => `.${name}`).join("");
    return `<${element.localName}${id || classes}> "${short(element.textContent)}"`;
  };

  // Waits for formulas, fonts and late images.
  const settle = async (seconds) => {
    for (const image of document.images) image.loading = "eager";
    const late = Symbol("late");
    const timer = new Promise((done) => setTimeout(done, 1000 * seconds, late));
    try {
      // else formulas would be judged, and pages measured, before they come into view
      const formulas = window.typesetFormulas?.() ?? window.MathJax?.startup?.promise;
      if ((await Promise.race([formulas, timer])) === late)
        return [`MathJax did not finish in ${seconds} s`];
    } catch (error) {
      return [`MathJax failed: ${error}`];
    }
    await document.fonts.ready;
    return [];
  };

  // An error in a formula, or a command that MathJax does not know and prints in red instead.
  const formulaError = (item) => {
    let found = null;
    item.root?.walkTree((node) => {
      if (node.isKind("merror")) found ??= node.attributes.get("data-mjx-error") ?? "error";
      if (node.isKind("mtext")) {
        const text = node.childNodes.map((child) => child.getText?.() ?? "").join("");
        if (text.includes("\\")) found ??= `unknown command ${text}`;
      }
    });
    return found;
  };

  const RAW_TEX = /\\\(|\\\[|\\begin\{|\$\$|\$[^$\s]([^$]*[^$\s])?\$(?!\d)/;
  const NOT_PROSE = "script, style, noscript, template, pre, code, textarea, mjx-container, .math";

  const math = () => {
    const complaints = [];
    for (const item of typeset()) {
      const error = formulaError(item);
      if (error) complaints.push(`unrendered math: ${short(item.math)} (${error})`);
    }
    const known = new Set(typeset().map((item) => item.typesetRoot));
    for (const error of document.querySelectorAll("mjx-merror, merror"))
      if (!known.has(error.closest("mjx-container")))
        complaints.push(`unrendered math: ${short(error.textContent)} (error)`);
    for (const formula of document.querySelectorAll(".math"))
      if (!formula.querySelector("mjx-container"))
        complaints.push(`unrendered math: ${short(formula.textContent)} (not typeset)`);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      if (RAW_TEX.test(data) && !parentElement.closest(NOT_PROSE))
        complaints.push(`unrendered math: ${short(data)} (TeX in the text)`);
    }
    return complaints;
  };

  const images = () =>
    [...document.images].flatMap((image) => {
      const alt = (image.getAttribute("alt") ?? "").trim();
      const source = short(image.getAttribute("src") ?? "");
      if (!alt) return [`image without alt text: ${source}`];
      // Sphinx writes the file's name where the author wrote nothing
      if (/\.(png|svg|jpe?g|gif|webp)$/i.test(alt))
        return [`image whose alt text is a path: ${alt}`];
      return [];
    });

  const links = () =>
    [...document.querySelectorAll("a[href]")].map((a) =>
      [short(a.textContent), new URL(a.getAttribute("href"), document.baseURI).href]);

  const content = () => ({ complaints: [...math(), ...images()], links: links() });

  // What sticks out of the window when everything folded is open.
  const overflow = () => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    for (const folded of document.querySelectorAll(".toggle-hidden"))
      folded.classList.remove("toggle-hidden");
    const { scrollWidth, clientWidth } = document.scrollingElement;
    if (scrollWidth <= clientWidth) return [];
    const reach = (element) => {
      const left = element.getBoundingClientRect().left;
      return left + Math.max(element.getBoundingClientRect().width, element.scrollWidth);
    };
    const scrolls = (element) => getComputedStyle(element).overflowX !== "visible";
    const inScroller = (element) => {
      for (let e = element.parentElement; e && e !== document.body; e = e.parentElement)
        if (scrolls(e)) return true;
      return false;
    };
    const wide = [...document.body.querySelectorAll("*")].filter(
      (element) =>
        element.checkVisibility({ visibilityProperty: true }) &&
        reach(element) > clientWidth + 1 &&
        !inScroller(element),
    );
    const innermost = wide.filter((outer) => !wide.some((e) => e !== outer && outer.contains(e)));
    const culprits = new Set(innermost.sort((a, b) => reach(b) - reach(a)).map(label));
    const named = [...culprits].slice(0, 5).join(", ") || "no visible element";
    return [`overflow: ${scrollWidth} px wide on a screen of ${clientWidth} px: ${named}`];
  };

  // Pictures whose smallest text has less than 7 px here; booksite.lazy_loading says which width they need.
  // Animations have a test of their own (test_animations.py).
  const illegible = () =>
    [...document.querySelectorAll(".bd-article .cell_output img:not(.animation img)")]
      .filter((picture) => picture.checkVisibility({ visibilityProperty: true }))
      .filter((picture) => {
        const least = parseFloat(picture.style.getPropertyValue("--least"));
        return !(picture.getBoundingClientRect().width > least - 1);
      })
      .map((picture) => `text below 7 px in a picture: "${short(picture.alt)}"`);

  return { settle, content, overflow, illegible };
})()
