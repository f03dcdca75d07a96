// Equations 6.1 and 6.2: which points of the board an attacker of radius nu flips, and training against it.
(() => {
  const { fixed, clamp } = hand;
  const loss = (z) => Math.log1p(Math.exp(-z));

  // W, a, alpha: a network; X, Y: points and their labels; nu: the radius; eta: the step of gradient
  // descent on the mean loss of the worst points, which it leaves where they are.
  const compute = ({ W, a, alpha, X, Y, nu, eta }) => {
    const network = hand.leaky({ W, a, alpha });
    const worst = X.map((x, i) => network.worst(x, Y[i], nu));
    const margins = (points) => points.map((u, i) => Y[i] * network.answer(u));
    const mean = (values) => values.reduce((total, v) => total + v, 0) / X.length;
    const summary = (z) => ({ margins: z, error: mean(z.map((v) => (v < 0 ? 1 : 0))), loss: mean(z.map(loss)) });
    const clean = summary(margins(X)), robust = summary(margins(worst));
    const pulls = worst.map((u, i) => network.slopes(u).map((s) => Y[i] * s / (1 + Math.exp(robust.margins[i]))));
    const next = W.map((w, j) => w.map((c, k) => c + eta * mean(worst.map((u, i) => pulls[i][j] * u[k]))));
    return { worst, clean, robust, next, network };
  };

  // The board of the page's cell, to four decimals.
  const START = [[-0.6664, 0.0975], [-1.8996, -1.9401], [-1.4105, -0.8006], [-0.7341, -0.4568], [-0.1909, -0.875], [0.0046, 0.5929]];
  const POINTS = [
    [-0.5825, -0.75], [-0.4788, -0.45], [-0.4352, -0.15], [-0.5017, 0.15], [-0.601, 0.45], [-0.3695, 0.75],
    [0.4073, -0.75], [0.8322, -0.45], [0.4708, -0.15], [0.5118, 0.15], [0.5831, 0.45], [0.5816, 0.75],
  ];
  const REACH = 1.2, RADII = [0, 0.6], ROUNDS = 150;

  const show = (stage) => {
    const now = {
      W: START, a: START.map((_, j) => (-1) ** j / Math.sqrt(START.length)), alpha: 0.5,
      X: POINTS, Y: POINTS.map((_, i) => (i < 6 ? -1 : 1)), nu: 0.2, eta: 1,
    };
    let found, plane;
    const fate = (i) => (found.clean.margins[i] < 0 ? "wrong" : found.robust.margins[i] < 0 ? "attacked" : "safe");
    const color = (i) => (now.Y[i] > 0 ? "vermilion" : "blue");
    const ball = (pen, x, y, r, state, look) => {
      if (state === "wrong") pen.circle(x, y, r, `${look}-area pale`);
      pen.circle(x, y, r, `disc ${state === "safe" ? "hollow" : look} ${state === "attacked" ? "dashed" : ""}`);
    };

    stage.draw = (pen, width) => {
      found = compute(now);
      const wide = width >= 600, size = Math.min(wide ? 350 : width - 44, 370);
      plane = pen.panel({
        x: 30, y: 10, w: size, h: size, xs: [-REACH, REACH], ys: [-REACH, REACH], xticks: [-1, 0, 1], yticks: [-1, 0, 1], grid: false,
      });
      const { X, Y } = plane, place = ([p, q]) => [X(p), Y(q)], unit = size / (2 * REACH);
      pen.parts.push(`<clipPath id="hand-board"><rect x="${plane.x}" y="${plane.y}" width="${size}" height="${size}"/></clipPath><g clip-path="url(#hand-board)">`);
      for (const wedge of found.network.wedges) {
        if (wedge.answer < 0) pen.wedge(plane, wedge, "faint-area");
      }
      for (const angle of found.network.borders) pen.line(X(0), Y(0), X(9 * Math.cos(angle)), Y(9 * Math.sin(angle)), "ink-line border");
      now.X.forEach((x, i) => ball(pen, ...place(x), now.nu * unit, fate(i), color(i)));
      found.worst.forEach((u, i) => { if (fate(i) === "attacked") pen.cross(...place(u), 5, `${color(i)} border`); });
      pen.parts.push("</g>");

      const x = wide ? size + 84 : 42, y = wide ? 36 : size + 78, row = 15, h = row * now.X.length;
      const all = [...found.clean.margins, ...found.robust.margins], low = Math.min(-0.2, ...all), high = Math.max(0.3, ...all), room = 0.06 * (high - low);
      const chart = pen.panel({
        x, y, w: width - x - 12, h, xs: [low - room, high + room], ys: [now.X.length, 0], grid: false,
        xticks: [-4, -2, -1, -0.5, -0.2, 0, 0.2, 0.5, 1, 2, 4].filter((z) => z === 0 || (low - room < z && z < high + room && Math.abs(z) > 0.16 * (high - low))),
      });
      pen.text(x - 16, y - 18, "margin: ○ clean, ● at the worst point");
      pen.rect(x, y, chart.X(0) - x, h, "water");
      pen.line(chart.X(0), y, chart.X(0), y + h, "ink-line thin");
      found.robust.margins.forEach((z, i) => {
        const level = chart.Y(i + 0.5);
        pen.text(x - 8, level + 4, now.Y[i] > 0 ? "+" : "−", "middle");
        pen.line(chart.X(z), level, chart.X(found.clean.margins[i]), level, color(i));
        pen.circle(chart.X(found.clean.margins[i]), level, 4, `paper-area ${color(i)}`);
        pen.circle(chart.X(z), level, 4, `${color(i)}-area`);
      });
      [["safe", "no attack exists"], ["attacked", "an attack exists"], ["wrong", "wrong without attack"]].forEach(([state, words], k) => {
        const top = y + h + 46 + 25 * k;
        ball(pen, x + 2, top - 4, 9, state, "vermilion");
        if (state === "attacked") pen.cross(x + 8, top - 10, 4, "vermilion border");
        pen.text(x + 22, top, `${words}: ${now.X.filter((_, i) => fate(i) === state).length} of ${now.X.length}`);
      });
      pen.rect(x - 7, y + h + 109, 18, 16, "faint-area");
      pen.text(x + 22, y + h + 121, "the network answers −");
      pen.text(x - 7, y + h + 149, `robust loss ${fixed(found.robust.loss)}, clean loss ${fixed(found.clean.loss)}`, "strong");
      return Math.max(size + 34, y + h + 157);
    };

    now.X.forEach((_, i) => {
      const move = (to) => { stage.stop(); now.X = now.X.map((x, k) => (k === i ? to.map((c) => clamp(c, -REACH, REACH)) : x)); };
      stage.handle({
        label: `point ${i + 1}, label ${now.Y[i] > 0 ? "plus" : "minus"}`, look: color(i),
        where: () => [plane.X(now.X[i][0]), plane.Y(now.X[i][1])],
        drag: (x, y) => move([plane.X.inverse(x), plane.Y.inverse(y)]),
        press: (right, up) => move(now.X[i].map((c, k) => Math.round(100 * c + 2 * [right, up][k]) / 100)),
        now: () => ({ value: now.X[i][0], least: -REACH, most: REACH, words: `${now.X[i].map((c) => fixed(c)).join(", ")}, ${fate(i)}, least margin ${fixed(found.robust.margins[i])}` }),
      }).insertAdjacentHTML("beforeend", `<text class="middle" y="5.5">${now.Y[i] > 0 ? "+" : "−"}</text>`);
    });
    stage.slider({
      label: "radius ν", least: RADII[0], most: RADII[1], steps: 60, get: () => now.nu, set: (nu) => { stage.stop(); now.nu = nu; }, words: (nu) => fixed(nu),
    });
    const train = (nu) => {
      const run = [now.W];
      while (run.length <= ROUNDS) run.push(compute({ ...now, W: run.at(-1), nu }).next);
      stage.play(ROUNDS, (k) => { now.W = run[k]; });
    };
    stage.button("Train on attacks", () => train(now.nu));
    stage.button("Train without attacks", () => train(0));
    stage.button("Reset", () => { stage.stop(); now.W = START; });
    stage.says = () => `Clean error ${fixed(found.clean.error)}, robust error ${fixed(found.robust.error)}; `
      + `clean loss ${fixed(found.clean.loss, 3)}, robust loss ${fixed(found.robust.loss, 3)}.`;
  };

  hand.picture("board", { title: "Twelve points, the attacker’s discs around them, and the loss of each", compute, show });
})();
