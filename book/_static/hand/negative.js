// Figure 1 of Helmbold and Long: when is the dropout penalty of a small ReLU network negative?
(() => {
  const { read, fixed, clamp } = hand;
  const REACH = 1.7, MOST = 0.8, LABELS = [-2, 12];

  // v: the weights of both hidden nodes; x: two inputs; y: the label; q: the drop probability. corners: the
  // input that is left, its chance, and the output if both hidden nodes are kept. law: outputs, chances.
  const compute = ({ v, x, y, q }) => {
    const p = 1 - q, active = (u) => Math.max(v[0] * u[0] + v[1] * u[1], 0);
    const corners = [[0, 0], [1, 0], [0, 1], [1, 1]].map((kept) => {
      const point = kept.map((k, i) => k * x[i]);
      return { point, chance: kept.reduce((share, k) => share * (k ? p : q), 1), output: 2 * active(point) / p ** 2 };
    });
    const law = corners.flatMap(({ chance, output }) => [q * q, 2 * p * q, p * p].map((share, k) => [output * k / 2, chance * share]));
    const expected = (f) => law.reduce((total, [value, chance]) => total + chance * f(value), 0);
    const clean = 2 * active(x), mean = expected((value) => value);
    const criterion = expected((value) => (value - y) ** 2), risk = (clean - y) ** 2;
    return {
      corners, law, clean, mean, criterion, risk,
      variance: expected((value) => (value - mean) ** 2), shift: (mean - y) ** 2 - risk, penalty: criterion - risk,
    };
  };

  const show = (stage) => {
    const first = () => ({ v: [1, 1], x: [1, -1], y: 8, q: 0.5 }), now = first();
    let found, plane, outputs, curve;
    const look = (value) => (value < -0.005 ? "green" : "vermilion");

    stage.draw = (pen, width) => {
      found = compute(now);
      const wide = width >= 560, size = Math.min(wide ? 0.38 * width : width - 44, 270);
      const left = wide ? 26 : (width - size) / 2, x = wide ? left + size + 58 : 40, w = width - x - 12;
      pen.parts.push(`<clipPath id="hand-inputs"><rect x="${left}" y="26" width="${size}" height="${size}"/></clipPath>`);
      plane = pen.panel({ x: left, y: 26, w: size, h: size, xs: [-REACH, REACH], ys: [-REACH, REACH], xticks: [-1, 0, 1], yticks: [-1, 0, 1] });
      const place = ([a, b]) => [plane.X(a), plane.Y(b)], [a, b] = now.v.map((c) => 9 * c);
      pen.text(left + size / 2, 16, "what is left of x; shaded: nodes active", "middle");
      pen.parts.push('<g clip-path="url(#hand-inputs)">');
      if (a || b) pen.path([[b, -a], [b + a, b - a], [a - b, a + b], [-b, a]].map(place), "blue-area pale", true);
      pen.parts.push("</g>");
      pen.path([0, 1, 3, 2].map((k) => place(found.corners[k].point)), "ink-line dashed thin", true);
      pen.arrow(...place([0, 0]), ...place(now.v), "blue", 0);
      for (const { point, chance, output } of found.corners) {
        pen.circle(...place(point), 4 + 16 * Math.sqrt(chance), output ? "orange-area" : "faint-area");
        pen.text(plane.X(point[0]) + 16, plane.Y(point[1]) + 18, read(output), `strong halo ${output ? "orange-text" : ""}`);
      }
      pen.text(plane.X(now.v[0]) + 12, plane.Y(now.v[1]) - 8, "v", "blue-text strong halo");
      pen.text(plane.X(now.x[0]) - 12, plane.Y(now.x[1]) - 10, "x", "strong halo end");

      const parts = [["variance", found.variance], ["change of bias²", found.shift], ["penalty", found.penalty]], top = 26 + size + 42;
      const most = Math.max(...parts.map(([, value]) => Math.abs(value)), 1), middle = left + 0.64 * size;
      parts.forEach(([words, value], k) => {
        const length = 0.18 * size * Math.abs(value) / most, y = top + 26 * k;
        pen.text(left - 16, y + 13, words, k === 2 ? "strong" : "");
        pen.rect(value < 0 ? middle - length : middle, y, length, 17, `${look(value)}-area`);
        pen.text(left + size + 16, y + 13, `${value < 0.005 ? "" : "+"}${fixed(value)}`, `end ${look(value)}-text ${k === 2 ? "strong" : ""}`);
      });
      pen.line(middle, top - 5, middle, top + 74, "axis");

      const y = wide ? 42 : top + 124, h = wide ? 0.38 * size : 100, far = Math.max(12, ...found.law.map(([value]) => value));
      outputs = pen.panel({ x, y, w, h, xs: [LABELS[0], 1.05 * far], ys: [0, 1], yticks: [0, 0.5, 1], xticks: [0, far / 3, 2 * far / 3, far].map((at) => [at, read(at, 2)]), grid: false });
      pen.text(x - 14, y - 26, "output with dropout, its probability");
      const merged = new Map();
      for (const [value, chance] of found.law) merged.set(value.toFixed(9), (merged.get(value.toFixed(9)) ?? 0) + chance);
      for (const [value, chance] of merged) pen.rect(outputs.X(Number(value)) - 4, outputs.Y(chance), 8, h * chance, "orange-area");
      const mark = (value, words, style, row) => {
        pen.line(outputs.X(value), y + 4 + 18 * row, outputs.X(value), y + h, style);
        pen.text(outputs.X(value) + 8, y + 16 + 18 * row, words, "halo");
      };
      pen.line(outputs.X(now.y), y - 8, outputs.X(now.y), y + h, "green");
      mark(found.mean, `mean ${fixed(found.mean)}`, "ink-line", 1);
      mark(found.clean, `without dropout ${fixed(found.clean)}`, "ink-line dashed", 0);
      pen.text(outputs.X(now.y) + (now.y > 8 ? -12 : 12), y - 4, `label y = ${fixed(now.y, 1)}`, `halo green-text ${now.y > 8 ? "end" : ""}`);

      const bottom = y + h + 64, tall = wide ? top + 70 - bottom : 140;
      const rates = Array.from({ length: 161 }, (_, k) => MOST * k / 160), heights = rates.map((q) => compute({ ...now, q }).penalty);
      const low = Math.min(-12, 1.1 * Math.min(...heights));
      curve = pen.panel({ x, y: bottom, w, h: tall, xs: [0, MOST], ys: [low, -1.6 * low], xticks: [0, 0.2, 0.4, 0.6, 0.8], xlabel: "drop probability q", yticks: [0, Math.round(low / 1.2)], grid: false });
      pen.text(x - 14, bottom - 12, "penalty against q");
      pen.rect(x, curve.Y(0), w, curve.Y(low) - curve.Y(0), "green-area pale");
      pen.line(x, curve.Y(0), x + w, curve.Y(0), "axis");
      pen.text(x + 8, bottom + tall - 8, "negative", "green-text");
      pen.parts.push(`<clipPath id="hand-curve"><rect x="${x}" y="${bottom}" width="${w}" height="${tall}"/></clipPath><g clip-path="url(#hand-curve)">`);
      pen.path(rates.map((q, k) => [curve.X(q), curve.Y(heights[k])]), "ink-line");
      pen.parts.push("</g>");
      return bottom + tall + 40;
    };

    const plain = (label, point, look) => stage.handle({
      label, look,
      where: () => [plane.X(point()[0]), plane.Y(point()[1])],
      drag: (x, y) => point([plane.X.inverse(x), plane.Y.inverse(y)].map((c) => Math.round(20 * c) / 20)),
      press: (right, up) => point([point()[0] + 0.05 * right, point()[1] + 0.05 * up].map((c) => clamp(Math.round(20 * c) / 20, -REACH, REACH))),
      now: () => ({ value: point()[0], least: -REACH, most: REACH, words: point().map((c) => fixed(c)).join(", ") }),
    });
    plain("weights v of both hidden nodes", (to) => (to ? (now.v = to) : now.v), "blue");
    plain("input x", (to) => (to ? (now.x = to) : now.x), "");
    const name = (y) => { now.y = clamp(Math.round(10 * y) / 10, ...LABELS); };
    stage.handle({
      label: "label y", look: "green",
      where: () => [outputs.X(now.y), outputs.y - 8],
      drag: (x) => name(outputs.X.inverse(x)),
      press: (right, up) => name(now.y + 0.1 * (right + up)),
      now: () => ({ value: now.y, least: LABELS[0], most: LABELS[1], words: fixed(now.y, 1) }),
    });
    const drop = (q) => { now.q = clamp(Math.round(100 * q) / 100, 0, MOST); };
    stage.handle({
      label: "drop probability q",
      where: () => [curve.X(now.q), Math.max(curve.Y(found.penalty), curve.y)],
      drag: (x) => drop(curve.X.inverse(x)),
      press: (right, up) => drop(now.q + 0.01 * (right + up)),
      now: () => ({ value: now.q, least: 0, most: MOST, words: `${fixed(now.q)}, penalty ${fixed(found.penalty)}` }),
    });
    stage.button("Figure 1", () => Object.assign(now, first()));
    stage.says = () => {
      const moved = Math.abs(found.mean - found.clean) < 0.005 ? "dropout does not move the mean, and the penalty is the variance."
        : `dropout moves the mean from ${fixed(found.clean)} to ${fixed(found.mean)}, ${found.shift < 0 ? "toward" : "away from"} the label.`;
      return `Penalty ${fixed(found.criterion)} − ${fixed(found.risk)} = ${fixed(found.penalty)}: ${moved}`;
    };
  };

  hand.picture("negative", { title: "A small network under dropout: its inputs, the law of its output, and the penalty", compute, show });
})();
