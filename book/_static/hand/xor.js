// Algorithm 4 on XOR, step by step: which units are dropped, how the rows move, and the margins.
(() => {
  const { fixed, clamp, coins } = hand;
  const POINTS = [[1, 0], [-1, 0], [0, 1], [0, -1]], LABELS = [1, 1, -1, -1], NAMES = ["e₁", "−e₁", "e₂", "−e₂"];
  const STEPS = 300, MOST = 100;
  const sum = (values) => values.reduce((total, v) => total + v, 0);

  // W: m rows in the plane; a: m signs; lessons: the number of a point and a mask for each step, of
  // size ln 2; q: the keep probability. For each step: the weights before it, the thinned network's
  // margin, which units learn, and the margins of the whole network with the weights q W.
  const compute = ({ W, a, lessons, q }) => {
    const root = Math.sqrt(W.length);
    const active = (x) => W.map((w) => Math.max(w[0] * x[0] + w[1] * x[1], 0));
    const steps = lessons.map(({ point, mask }) => {
      const x = POINTS[point], hidden = active(x), learns = hidden.map((h, r) => h > 0 && mask[r] === 1);
      const margin = LABELS[point] * sum(hidden.map((h, r) => mask[r] * a[r] * h)) / root;
      const margins = POINTS.map((u, i) => q * LABELS[i] * sum(active(u).map((h, r) => a[r] * h)) / root);
      const step = { W, point, mask, learns, margin, margins }, size = LABELS[point] / root / (1 + Math.exp(margin));
      W = W.map((w, r) => (learns[r] ? w.map((c, k) => c + size * a[r] * x[k]) : w));
      return step;
    });
    return { steps, end: W };
  };

  // A start and lessons that a seed decides; other numbers of units and rates keep the same coins.
  const drawn = ({ seed, units, q }) => {
    const coin = coins(seed), normal = () => Math.sqrt(-2 * Math.log(1 - coin())) * Math.cos(2 * Math.PI * coin());
    const all = Array.from({ length: MOST }, () => ({ w: [normal(), normal()], sign: coin() < 0.5 ? 1 : -1 }));
    const lessons = Array.from({ length: STEPS }, () => ({
      point: Math.floor(4 * coin()), mask: Array.from({ length: MOST }, () => (coin() < q ? 1 : 0)).slice(0, units),
    }));
    const kept = all.slice(0, units);
    return { W: kept.map(({ w }) => w), a: kept.map(({ sign }) => sign), lessons, q };
  };

  const show = (stage) => {
    const now = { seed: 1, units: 40, q: 0.5, t: 40 };
    const REACH = 3.4;
    let run, found, chart, cached;
    const step = () => found.steps[now.t - 1];
    const color = (sign) => (sign > 0 ? "blue" : "vermilion");
    const mistakes = () => found.steps.slice(0, now.t).filter(({ margin }) => margin <= 0).length;
    const unit = (pen, x, y, kind, look) => {
      if (kind === "dropped") pen.circle(x, y, 3, `paper-area thin ${look} faint`);
      else pen.circle(x, y, kind === "learns" ? 4.6 : 2.8, `${look}-area`);
    };

    stage.draw = (pen, width) => {
      if (cached !== `${now.seed} ${now.units} ${now.q}`) {
        cached = `${now.seed} ${now.units} ${now.q}`;
        run = drawn(now);
        found = compute(run);
      }
      const wide = width >= 600, size = Math.min(wide ? 330 : width - 44, 330), { W, point, mask, learns } = step();
      const plane = pen.panel({
        x: 30, y: 10, w: size, h: size, xs: [-REACH, REACH], ys: [-REACH, REACH], xticks: [-2, 0, 2], yticks: [-2, 0, 2], grid: false,
      });
      const place = ([p, q]) => [plane.X(p), plane.Y(q)];
      const [right, up] = POINTS[point], half = size / 2;  // the units there are active
      pen.rect(plane.x + (right > 0 ? half : 0), plane.y + (up < 0 ? half : 0), right ? half : size, up ? half : size, "faint-area");
      pen.parts.push(`<clipPath id="hand-rows"><rect x="${plane.x}" y="${plane.y}" width="${size}" height="${size}"/></clipPath><g clip-path="url(#hand-rows)">`);
      W.forEach((w, r) => pen.line(...place(run.W[r]), ...place(w), `${color(run.a[r])} ${mask[r] ? "" : "pale"}`));
      W.forEach((w, r) => unit(pen, ...place(w), learns[r] ? "learns" : mask[r] ? "kept" : "dropped", color(run.a[r])));
      pen.parts.push("</g>");
      POINTS.forEach((p, i) => pen.star(...place(p), i === point ? 11 : 7, LABELS[i] > 0 ? "blue-area" : "vermilion-area"));
      pen.circle(...place(POINTS[point]), 15, "ink-line border");

      const left = wide ? size + 82 : 38, top = wide ? 34 : size + 78, h = wide ? 240 : 170;
      const all = found.steps.flatMap(({ margin, margins }) => [margin, ...margins]);
      chart = pen.panel({
        x: left, y: top, w: width - left - 14, h, xs: [1, STEPS], ys: [Math.min(...all, -0.5), Math.max(...all, 1)], xticks: [1, 100, 200, 300],
        yticks: [-4, -2, -1, 0, 1, 2, 4, 6].filter((z) => Math.min(...all, -0.5) <= z && z <= Math.max(...all, 1)), xlabel: "step",
      });
      pen.text(left - 22, top - 16, "margins");
      pen.line(left, chart.Y(0), left + chart.w, chart.Y(0), "ink-line thin");
      const past = found.steps.slice(0, now.t), mark = (x, y, good) => (good ? pen.circle(x, y, 2, "ink-area faint") : pen.cross(x, y, 3.5, "ink-line"));
      past.forEach(({ margin }, k) => mark(chart.X(k + 1), chart.Y(margin), margin > 0));
      const curve = (i) => `${color(LABELS[i])} ${i % 2 ? "dashed" : ""}`;
      for (const [steps, look] of [[found.steps, "pale"], [past, ""]])
        POINTS.forEach((_, i) => pen.path(steps.map(({ margins }, k) => [chart.X(k + 1), chart.Y(margins[i])]), `${curve(i)} ${look}`));
      pen.line(chart.X(now.t), top, chart.X(now.t), top + h, "ink-line thin");
      pen.circle(chart.X(now.t), chart.Y(step().margin), 6, "ring");

      const below = pen.legend(left - 22, top + h + 54, width, [
        ...NAMES.map((name, i) => [name, (x, y) => pen.line(x - 10, y, x + 10, y, curve(i))]),
        ["thinned network", (x, y) => mark(x, y, true)],
        ["mistake", (x, y) => mark(x, y, false)],
      ]);
      return Math.max(below, pen.legend(wide ? 30 : left - 22, wide ? size + 50 : below + 12, wide ? left : width, [
        ["learns in this step", (x, y) => unit(pen, x, y, "learns", "blue")],
        ["kept", (x, y) => unit(pen, x, y, "kept", "blue")],
        ["dropped", (x, y) => unit(pen, x, y, "dropped", "blue")],
        ["a = 1", (x, y) => pen.circle(x, y, 5, "blue-area")],
        ["a = −1", (x, y) => pen.circle(x, y, 5, "vermilion-area")],
        ["points of XOR", (x, y) => pen.star(x, y, 7, "ink-area")],
        ["example", (x, y) => pen.circle(x, y, 7, "ink-line border")],
        ["active side", (x, y) => pen.rect(x - 8, y - 6, 16, 13, "faint-area")],
      ]));
    };

    const go = (t) => { now.t = clamp(Math.round(t), 1, STEPS); };
    const halt = (act) => (value) => { stage.stop(); act(value); };
    stage.handle({
      label: "step",
      where: () => [chart.X(now.t), chart.y],
      drag: (x) => halt(go)(chart.X.inverse(x)),
      press: (right, up) => halt(go)(now.t + right + up),
      now: () => ({ value: now.t, least: 1, most: STEPS, words: `${now.t} of ${STEPS}` }),
    });
    stage.slider({ label: "step", least: 1, most: STEPS, steps: STEPS - 1, get: () => now.t, set: halt(go) });
    stage.slider({
      label: "keep q", name: "keep probability q", least: 0.1, most: 1, steps: 18, get: () => now.q,
      set: halt((q) => { now.q = Math.round(20 * q) / 20; }), words: (q) => fixed(q),
    });
    stage.slider({ label: "units m", least: 8, most: MOST, log: true, steps: 30, get: () => now.units, set: halt((m) => { now.units = Math.round(m); }) });
    stage.button("One step", () => halt(go)(now.t + 1));
    stage.button("Train", () => {
      const from = now.t < STEPS ? now.t : 0;
      stage.play(STEPS - from, (k) => go(from + k));
    });
    stage.button("Other coins", halt(() => { now.seed += 1; }));
    stage.says = () => {
      const { point, mask, learns, margin, margins } = step();
      return `Step ${now.t}: example ${NAMES[point]}; ${sum(mask)} of ${now.units} units are kept, ${learns.filter(Boolean).length} learn. `
        + `The thinned network has margin ${fixed(margin)}${margin > 0 ? "" : ", a mistake"}; mistakes so far: ${mistakes()}. `
        + `The whole network has margins ${margins.map((z) => fixed(z)).join(", ")}.`;
    };
  };

  hand.picture("xor", { title: "Dropout training on XOR: the rows of a network, its units of each step, and its margins", compute, show });
})();
