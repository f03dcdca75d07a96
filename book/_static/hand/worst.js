// Theorem 6.B: a leaky-ReLU network in the plane, its exact worst case in a disc, and PGD's way.
(() => {
  const { read, fixed, clamp } = hand;
  const STEPS = 25;
  const at = (angle) => [Math.cos(angle), Math.sin(angle)];

  // W, a, alpha: a network; x: a point; y: its label; eps: the radius; eta: PGD's step on minus the
  // margin. As worst_case and pgd_path of the library.
  const compute = ({ W, a, alpha, x, y, eps, eta }) => {
    const network = hand.leaky({ W, a, alpha }), margin = (u) => y * network.answer(u);
    const worst = network.worst(x, y, eps), path = network.descend(x, y, eps, eta, STEPS);
    return { answer: network.answer(x), worst, least: margin(worst), path, margins: path.map(margin), borders: network.borders };
  };

  const show = (stage) => {
    const now = {
      W: [[-0.5, 0.5], [0.7, 0.1], [0.9, -0.5]], a: [1.1, -1.2, 1.1], alpha: 0.2, x: [0, -0.4], eps: 0.5, eta: 0.06,
    };
    const REACH = 1.3;
    let found, plane;

    stage.draw = (pen, width) => {
      const wide = width >= 600, size = Math.min(wide ? 370 : width - 44, 370);
      now.y = 1;
      now.y = compute(now).answer < 0 ? -1 : 1;
      found = compute(now);
      plane = pen.panel({
        x: 30, y: 10, w: size, h: size, xs: [-REACH, REACH], ys: [-REACH, REACH], xticks: [-1, 0, 1], yticks: [-1, 0, 1], grid: false,
      });
      const { X, Y } = plane, place = ([p, q]) => [X(p), Y(q)], unit = size / (2 * REACH);
      pen.parts.push(`<clipPath id="hand-plane"><rect x="${plane.x}" y="${plane.y}" width="${size}" height="${size}"/></clipPath><g clip-path="url(#hand-plane)">`);
      const far = found.borders.map((angle) => place(at(angle).map((c) => 3 * c)));
      const star = far.map(([p, q]) => `M${X(0)} ${Y(0)}L${p} ${q}`).join("");
      if (star) pen.put("path", { d: star, class: "tube", style: `stroke-width: ${2 * now.eps * unit}px` });
      if (star) pen.put("path", { d: star, class: "ink-line border" });
      for (const w of now.W) pen.line(...place([-9 * w[1], 9 * w[0]]), ...place([9 * w[1], -9 * w[0]]), "axis dashed faint");
      pen.circle(...place(now.x), now.eps * unit, "hollow disc");
      now.W.forEach((w, j) => pen.arrow(X(0), Y(0), ...place(w), now.a[j] > 0 ? "blue" : "vermilion"));
      pen.path(found.path.map(place), "orange");
      found.path.forEach((u) => pen.circle(...place(u), 2.6, "orange-area"));
      pen.circle(...place(found.worst), 9, "ring");
      pen.parts.push("</g>");
      now.W.forEach((w, j) => pen.text(X(w[0]) + (w[0] < 0 ? -14 : 14), Y(w[1]) + (w[1] < 0 ? 14 : -6), `${now.a[j] > 0 ? "+" : "−"}w${"₁₂₃"[j]}`, `halo ${w[0] < 0 ? "end" : ""}`));

      const x = wide ? size + 92 : 42, y = wide ? 34 : size + 74, h = wide ? 200 : 120;
      const low = Math.min(found.least, ...found.margins, 0), high = Math.max(...found.margins, 0), room = 0.12 * (high - low) + 0.01;
      const ticks = [...new Set([0, found.margins[0], found.least].map((v) => Number(v.toFixed(2))))];
      const steps = pen.panel({
        x, y, w: width - x - 12, h, xs: [0, STEPS - 1], ys: [low - room, high + room], xticks: [0, 8, 16, 24],
        yticks: ticks.map((v) => [v, fixed(v)]), xlabel: "steps of PGD", grid: false,
      });
      pen.text(x, y - 12, "margin", "middle");
      pen.line(x, steps.Y(0), x + steps.w, steps.Y(0), "ink-line thin");
      pen.line(x, steps.Y(found.least), x + steps.w, steps.Y(found.least), "vermilion dashed");
      pen.text(x + steps.w, steps.Y(found.least) - 6, "exact worst case", "end vermilion-text halo");
      pen.path(found.margins.map((z, k) => [steps.X(k), steps.Y(z)]), "orange");
      found.margins.forEach((z, k) => pen.circle(steps.X(k), steps.Y(z), 2.6, "orange-area"));
      return Math.max(size + 34, y + h + 40);
    };

    const movable = (label, point, look) => stage.handle({
      label, look,
      where: () => [plane.X(point()[0]), plane.Y(point()[1])],
      drag: (x, y) => point([plane.X.inverse(x), plane.Y.inverse(y)]),
      press: (right, up) => point(point().map((c, i) => clamp(Math.round(100 * c + 2 * [right, up][i]) / 100, -REACH, REACH))),
      now: () => ({ value: point()[0], least: -REACH, most: REACH, words: point().map((c) => fixed(c)).join(", ") }),
    });
    now.W.forEach((_, j) => movable(`neuron ${j + 1}`, (to) => {
      if (to && Math.hypot(...to) > 0.05) now.W[j] = to;
      return now.W[j];
    }, now.a[j] > 0 ? "blue" : "vermilion"));
    movable("the input x", (to) => (to ? (now.x = to) : now.x), "");
    stage.slider({
      label: "radius ν", least: 0.05, most: 1, steps: 95, get: () => now.eps, set: (eps) => { now.eps = eps; }, words: (eps) => fixed(eps),
    });
    stage.slider({
      label: "PGD’s step", least: 0.005, most: 0.5, log: true, get: () => now.eta, set: (eta) => { now.eta = eta; }, words: (eta) => read(eta, 2),
    });
    stage.says = () => {
      const best = Math.min(...found.margins);
      const verdict = found.least >= 0 ? "no attack exists" : best < 0 ? "PGD finds an attack" : "an attack exists, and PGD misses it";
      return `Margin at x ${fixed(found.margins[0], 3)}, exact worst case ${fixed(found.least, 3)}, best of PGD ${fixed(best, 3)}: ${verdict}.`;
    };
  };

  hand.picture("worst", { title: "A network in the plane, its worst case in a disc, and the path of PGD", compute, show });
})();
