// What the pictures that answer to the hand share (lib/booksite/interactive_figure.py). A picture calls
// hand.picture(name, { compute, show }): `compute` is its mathematics, a pure function, which
// tests/browser/test_hand.py compares with the library; `show(stage)` puts it on the page.
globalThis.hand = (() => {
  const pictures = {};

  // A number as a reader reads it: some digits, and a minus that is one.
  const read = (x, digits = 3) => {
    const rounded = Math.abs(x) >= 10 ** digits ? Math.round(x).toString() : String(Number(x.toPrecision(digits)));
    return rounded.replace("-", "−");
  };
  const fixed = (x, digits = 2) => x.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
  const clamp = (x, least, most) => Math.min(Math.max(x, least), most);

  const scale = ([a, b], [from, to], log) => {
    const f = log ? Math.log : (x) => x;
    const at = (x) => from + (to - from) * (f(x) - f(a)) / (f(b) - f(a));
    at.inverse = (place) => {
      const t = f(a) + (place - from) / (to - from) * (f(b) - f(a));
      return clamp(log ? Math.exp(t) : t, a, b);
    };
    return at;
  };

  // Collects what is drawn at one moment, as text: classes say how it looks (hand.css).
  class Pen {
    constructor() { this.parts = []; }
    put(tag, attributes, inner = "") {
      const said = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`).join("");
      this.parts.push(`<${tag}${said}>${inner}</${tag}>`);
    }
    line(x1, y1, x2, y2, look) { this.put("line", { x1, y1, x2, y2, class: look }); }
    rect(x, y, width, height, look) { this.put("rect", { x, y, width: Math.max(width, 0), height: Math.max(height, 0), class: look }); }
    circle(cx, cy, r, look) { this.put("circle", { cx, cy, r, class: look }); }
    text(x, y, words, look = "") { this.put("text", { x, y, class: look }, words); }
    path(points, look, close = false) {
      const d = points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L");
      if (d) this.put("path", { d: `M${d}${close ? "Z" : ""}`, class: look });
    }
    cross(x, y, r, look) {
      this.put("path", { d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`, class: look });
    }
    star(x, y, r, look) {
      const corner = (k) => [x + (k % 2 ? 0.42 : 1) * r * Math.sin(k * Math.PI / 5), y - (k % 2 ? 0.42 : 1) * r * Math.cos(k * Math.PI / 5)];
      this.path(Array.from({ length: 10 }, (_, k) => corner(k)), look, true);
    }
    arrow(x1, y1, x2, y2, look, size = 7) {
      const angle = Math.atan2(y2 - y1, x2 - x1);
      const barb = (turn) => [x2 - size * Math.cos(angle + turn), y2 - size * Math.sin(angle + turn)];
      this.line(x1, y1, x2, y2, look);
      if (Math.hypot(x2 - x1, y2 - y1) > 1) this.path([barb(0.45), [x2, y2], barb(-0.45)], look);
    }
    // What marks mean: entries [words, draw], draw(x, y) puts the mark. Returns the height below.
    legend(left, y, right, entries) {
      let x = left;
      for (const [words, draw] of entries) {
        const length = 32 + 7.3 * words.length;
        if (x + length > right) [x, y] = [left, y + 22];
        draw(x + 6, y - 4);
        this.text(x + 20, y, words);
        x += length;
      }
      return y + 10;
    }
    // What lies between two angles, far beyond the axes.
    wedge({ X, Y }, { from, to }, look) {
      const rim = Array.from({ length: 17 }, (_, k) => from + (to - from) * k / 16);
      this.path([[X(0), Y(0)], ...rim.map((angle) => [X(9 * Math.cos(angle)), Y(9 * Math.sin(angle))])], look, true);
    }
    // Where f crosses each level, by the cells of a grid over a square of two axes.
    contours(f, { X, Y }, [from, to], levels, look, cells = 64) {
      const at = (k) => from + (to - from) * k / cells;
      const rows = Array.from({ length: cells + 1 }, (_, j) => Array.from({ length: cells + 1 }, (_, i) => f(at(i), at(j))));
      const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
      const d = levels.map((level) => {
        const pieces = [];
        for (let j = 0; j < cells; j++) for (let i = 0; i < cells; i++) {
          const over = corners.map(([a, b]) => rows[j + b][i + a] - level), cuts = [];
          corners.forEach(([a, b], k) => {
            const [c, e] = corners[(k + 1) % 4], t = over[k] / (over[k] - over[(k + 1) % 4]);
            if (over[k] > 0 !== over[(k + 1) % 4] > 0) cuts.push(`${X(at(i + a + t * (c - a))).toFixed(1)} ${Y(at(j + b + t * (e - b))).toFixed(1)}`);
          });
          for (let k = 1; k < cuts.length; k += 2) pieces.push(`M${cuts[k - 1]}L${cuts[k]}`);
        }
        return pieces.join("");
      });
      this.put("path", { d: d.join(""), class: look });
    }
    // Axes around the place x, y, w, h; ticks are numbers, or [number, words]. Returns both scales.
    panel({ x, y, w, h, xs, ys, logx, logy, xticks = [], yticks = [], xlabel, ylabel, grid = true }) {
      const X = scale(xs, [x, x + w], logx), Y = scale(ys, [y + h, y], logy);
      const pair = (tick) => (Array.isArray(tick) ? tick : [tick, read(tick)]);
      for (const [at, words] of yticks.map(pair)) {
        if (grid) this.line(x, Y(at), x + w, Y(at), "grid");
        this.text(x - 6, Y(at) + 4, words, "tick end");
      }
      for (const [at, words] of xticks.map(pair)) {
        if (grid) this.line(X(at), y, X(at), y + h, "grid");
        this.text(X(at), y + h + 16, words, "tick middle");
      }
      this.line(x, y + h, x + w, y + h, "axis");
      this.line(x, y, x, y + h, "axis");
      if (xlabel) this.text(x + w / 2, y + h + 33, xlabel, "middle");
      if (ylabel) this.text(x - 4, y - 9, ylabel, x > 60 ? "middle" : "");
      return { X, Y, x, y, w, h };
    }
  }

  // Numbers from 0 to 1 that a seed decides: the same coins until the reader asks for others.
  const coins = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  // The network x -> sum_j a_j sigma(w_j x) in the plane, sigma(p) = max(alpha p, p): W has m rows.
  const leaky = ({ W, a, alpha }) => {
    const TURN = 2 * Math.PI;
    const dot = (p, q) => p[0] * q[0] + p[1] * q[1];
    const at = (angle) => [Math.cos(angle), Math.sin(angle)];
    const answer = (u) => W.reduce((total, w, j) => {
      const h = dot(w, u);
      return total + a[j] * Math.max(h, alpha * h);
    }, 0);
    const slopes = (u) => W.map((w, j) => a[j] * (dot(w, u) > 0 ? 1 : alpha));
    const gradient = (u) => slopes(u).reduce(([g, h], pull, j) => [g + pull * W[j][0], h + pull * W[j][1]], [0, 0]);

    // between the lines of the units the network is linear
    const rays = W.flatMap(([p, q]) => [Math.atan2(p, -q), Math.atan2(-p, q)]).sort((s, t) => s - t);
    const sectors = rays.map((from, k) => {
      const to = k + 1 < rays.length ? rays[k + 1] : rays[0] + TURN;
      return { from, to, g: gradient(at((from + to) / 2)) };
    });
    // the directions in which the answer changes, and the wedges between them
    const borders = sectors.flatMap(({ from, to, g }) => [1, -1]
      .map((side) => from + ((Math.atan2(side * g[0], -side * g[1]) - from) % TURN + TURN) % TURN)
      .filter((angle) => angle < to)).sort((s, t) => s - t);
    const wedges = (borders.length ? borders : [0]).map((from, k) => {
      const to = k + 1 < borders.length ? borders[k + 1] : from + TURN - (k ? from - borders[0] : 0);
      return { from, to, answer: answer(at((from + to) / 2)) };
    });

    // The point of the disc with the least margin y answer(u), as worst_case of the library.
    const worst = (x, y, eps) => {
      const candidates = [x];
      if (Math.hypot(...x) <= eps) candidates.push([0, 0]);
      for (const angle of rays) {
        const way = at(angle), along = dot(x, way), rest = eps ** 2 - (dot(x, x) - along ** 2);
        if (rest >= 0) candidates.push(way.map((d) => d * (along + Math.sqrt(rest))));
      }
      for (const { g } of sectors) {
        const length = Math.hypot(...g);
        if (length) candidates.push(x.map((c, i) => c - eps * y * g[i] / length));
      }
      return candidates.reduce((best, u) => (y * answer(u) < y * answer(best) ? u : best));
    };
    // PGD on the margin from a start in the disc about x, `visits` points, as pgd_path of the library.
    const descend = (x, y, eps, eta, visits, start = x) => {
      const path = [start];
      while (path.length < visits) {
        const u = path.at(-1), g = gradient(u);
        const next = u.map((c, i) => c - eta * y * g[i] - x[i]);
        const length = Math.hypot(...next);
        path.push(next.map((c, i) => x[i] + c * (length > eps ? eps / length : 1)));
      }
      return path;
    };
    return { answer, slopes, borders, wedges, worst, descend };
  };

  const make = (parent, tag, attributes = {}, space = "http://www.w3.org/1999/xhtml") => {
    const element = document.createElementNS(space, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent.append(element);
    return element;
  };
  const svg = (parent, tag, attributes) => make(parent, tag, attributes, "http://www.w3.org/2000/svg");

  // The place of a picture: what is drawn, what can be dragged over it, sliders, and words.
  // A picture sets draw(pen, width), which returns the height, and says(), the values in words,
  // which are spoken when it does not play.
  class Stage {
    constructor(root, title) {
      this.root = root;
      this.svg = svg(root, "svg", { role: "group", "aria-label": title });
      this.ink = svg(this.svg, "g", { "aria-hidden": "true" });
      this.controls = make(root, "div", { class: "hand-controls" });
      this.output = make(root, "output", { class: "hand-says", "aria-live": "polite" });
      this.refreshes = [];
      this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    }

    slider({ label, name = label, least, most, log = false, steps = 200, get, set, words = (x) => read(x) }) {
      const field = make(this.controls, "label");
      make(field, "span").textContent = label;
      const input = make(field, "input", { type: "range", min: 0, max: steps, step: 1, "aria-label": name });
      const shown = make(field, "span", { class: "hand-value" });
      const across = scale([least, most], [0, steps], log);
      input.addEventListener("input", () => { set(across.inverse(Number(input.value))); this.change(); });
      this.refreshes.push(() => {
        input.value = across(get());
        shown.textContent = words(get());
        input.setAttribute("aria-valuetext", words(get()));
      });
      return field;
    }

    button(words, act) {
      const button = make(this.controls, "button", { type: "button" });
      button.textContent = words;
      button.addEventListener("click", () => { act(); this.change(); });
      return button;
    }

    // A point that can be dragged, or moved by arrow keys: drag(x, y) and press(right, up) move it.
    // A click, or Enter, calls act().
    handle({ label, where, drag, press, now, act, look = "" }) {
      const handle = svg(this.svg, "g", { class: `hand-handle ${look}`, role: "slider", tabindex: 0, "aria-label": label });
      svg(handle, "circle", { class: "reach", r: 20 });
      svg(handle, "circle", { class: "grip", r: 7 });
      let held = false, moved = 0;
      const follow = (event) => {
        const box = this.svg.getBoundingClientRect();
        drag(event.clientX - box.left, event.clientY - box.top);
        this.change();
      };
      handle.addEventListener("pointerdown", (event) => {
        if (event.button) return;
        held = true;
        moved = 0;
        handle.setPointerCapture(event.pointerId);
        handle.focus({ preventScroll: true });
        event.preventDefault();
      });
      handle.addEventListener("pointermove", (event) => {
        moved += Math.hypot(event.movementX, event.movementY);
        if (held && moved > 2) follow(event);
      });
      for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => {
        if (held && moved <= 2 && act && end === "pointerup") { act(); this.change(); }
        held = false;
      });
      handle.addEventListener("keydown", (event) => {
        const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [0, 5], PageDown: [0, -5] }[event.key];
        if (act && ["Enter", " "].includes(event.key)) {
          event.preventDefault();
          act();
          this.change();
        }
        if (!way) return;
        event.preventDefault();
        press(...way.map((step) => step * (event.shiftKey ? 5 : 1)));
        this.change();
      });
      this.refreshes.push(() => {
        const place = where();
        handle.style.display = place ? "" : "none";
        if (!place) return;
        handle.setAttribute("transform", `translate(${place[0].toFixed(2)} ${place[1].toFixed(2)})`);
        const { value, least, most, words } = now();
        for (const [name, said] of [["now", value], ["min", least], ["max", most], ["text", words]])
          handle.setAttribute(`aria-value${name}`, said);
      });
      return handle;
    }

    // All is drawn again when something has changed, at most once a frame.
    change() {
      if (!this.due) requestAnimationFrame(() => { this.due = false; this.paint(); });
      this.due = true;
    }

    paint() {
      const width = this.root.clientWidth;
      if (!width) return;
      const pen = new Pen();
      const height = this.draw(pen, width);
      this.ink.innerHTML = pen.parts.join("");
      this.svg.setAttribute("width", width);
      this.svg.setAttribute("height", height);
      for (const refresh of this.refreshes) refresh();
      const words = this.playing ? "Training …" : this.says();
      if (this.output.textContent !== words) this.output.textContent = words;
    }

    // Calls step(k), k = 1, ..., count, a frame each; where motion is not wanted, the last at once.
    play(count, step) {
      const turn = this.turn = {};
      const next = (k) => {
        if (turn !== this.turn) return;
        step(k);
        this.playing = k < count;
        this.paint();
        if (k < count) requestAnimationFrame(() => next(k + 1));
      };
      next(this.calm.matches ? count : 1);
    }
    stop() { this.turn = {}; this.playing = false; }
  }

  // In the place of the picture of the cell before; that one is left for paper.
  const place = (words) => {
    let cell = words.previousElementSibling;
    while (cell && !cell.matches(".cell")) cell = cell.previousElementSibling;
    const still = cell?.querySelector("figure .frame, .animation");
    const picture = pictures[words.dataset.picture];
    if (!still || !picture) return;
    const root = document.createElement("div");
    root.className = "hand-stage";
    const link = still.closest("a");  // to the file of a picture of a given width
    (link ?? still).before(root);
    for (const hidden of [still, link]) hidden?.classList.add("hand-still");
    const caption = still.closest("figure")?.querySelector(".caption-text");
    if (caption) {
      const said = document.createElement("span");
      said.className = "caption-text hand-words";
      for (const paragraph of words.querySelectorAll(":scope > p")) said.append(...paragraph.childNodes, " ");
      caption.classList.add("hand-still");
      caption.before(said);
      words.remove();
    } else {
      words.classList.add("hand-words");
      still.before(words);
      words.hidden = false;
    }
    const stage = new Stage(root, picture.title);
    picture.show(stage);
    stage.paint();
    let width = root.clientWidth;
    new ResizeObserver(() => {
      if (root.clientWidth !== width) stage.change();
      width = root.clientWidth;
    }).observe(root);
  };
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll(".hand").forEach(place));

  return {
    pictures, read, fixed, clamp, scale, coins, leaky,
    picture(name, how) { pictures[name] = how; },
  };
})();
