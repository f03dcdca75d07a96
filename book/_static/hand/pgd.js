// Theorem 6.E: PGD on the margin in two balls, from any start. Where does it find an attack?
(() => {
  const { read, fixed } = hand;
  const VISITS = 60, NU = 1, CELLS = 18;

  // W, a, alpha: a network; x: the center of the ball, of label 1; start: a point of the ball; eta:
  // the step. level: the depth of the ball in units of nu L.
  const compute = ({ W, a, alpha, x, start, eta }) => {
    const network = hand.leaky({ W, a, alpha });
    const path = network.descend(x, 1, NU, eta, VISITS, start), worst = network.worst(x, 1, NU);
    const [p, q, r] = W.reduce(([aa, ab, bb], [s, t]) => [aa + s * s, ab + s * t, bb + t * t], [0, 0, 0]);
    const L = Math.hypot(...a) * Math.sqrt((p + r) / 2 + Math.hypot((p - r) / 2, q));
    const least = network.answer(worst);
    return { network, path, margins: path.map(network.answer), worst, level: -least / (NU * L), least };
  };

  // The two networks of the page's cell.
  const BALLS = [
    (alpha) => ({ W: [[-0.5, 2.15], [-1.25, 0], [0.35, 1.2]], a: [-0.7, -0.1, 0.05], alpha, x: [0.6, -0.2] }),
    (alpha) => ({ W: [[Math.sqrt(alpha), 0], [-1, 0], [0, 0.4]], a: [-Math.sqrt(alpha), -1, 0.4], alpha, x: [0.15, 2] }),
  ];

  const show = (stage) => {
    const now = { away: [[0, 0], [0, 0]], alpha: 0.5, eta: 0.15 };
    const REACH = 1.06;
    let found, planes, cached, fates;
    const ball = (k) => BALLS[k](now.alpha);
    const position = (k, away = now.away[k]) => ({ ...ball(k), start: ball(k).x.map((c, i) => c + NU * away[i]), eta: now.eta });
    const finds = (margins) => Math.min(...margins) < 0;
    const grid = Array.from({ length: CELLS ** 2 }, (_, n) => [n % CELLS, Math.floor(n / CELLS)].map((c) => (2 * c + 1) / CELLS - 1)).filter((u) => Math.hypot(...u) < 0.97);

    const verdict = (k) => (found[k].level <= 0 ? "no attack" : finds(found[k].margins) ? "found" : "missed");
    const mark = (pen, x, y, good) => (good ? pen.circle(x, y, 2.4, "green-area") : pen.cross(x, y, 2.4, "vermilion thin"));

    stage.draw = (pen, width) => {
      found = BALLS.map((_, k) => compute(position(k)));
      if (cached !== `${now.alpha} ${now.eta}`) {
        cached = `${now.alpha} ${now.eta}`;
        fates = BALLS.map((_, k) => grid.map((away) => finds(compute(position(k, away)).margins)));
      }
      const wide = width >= 560, size = Math.min(wide ? (width - 30) / 2 : width - 8, wide ? 236 : 300), room = size + 36;
      planes = found.map(({ network, path, margins, worst, level }, k) => {
        const { W, x } = ball(k), unit = size / 2 / REACH;
        const left = wide ? (width / 2 - size) / 2 + k * width / 2 : (width - size) / 2, top = 26 + (wide ? 0 : k * room);
        const middle = [left + size / 2, top + size / 2], round = `cx="${middle[0]}" cy="${middle[1]}" r="${unit}"`;
        const X = (u) => middle[0] + unit * (u - x[0]), Y = (u) => middle[1] - unit * (u - x[1]), place = ([u, v]) => [X(u), Y(v)];
        pen.parts.push(`<clipPath id="hand-ball-${k}"><circle ${round}/></clipPath><g clip-path="url(#hand-ball-${k})">`);
        for (const wedge of network.wedges) if (wedge.answer < 0) pen.wedge({ X, Y }, wedge, "sky-area pale");
        for (const w of W) pen.line(...place([-9 * w[1], 9 * w[0]]), ...place([9 * w[1], -9 * w[0]]), "axis dashed");
        pen.parts.push("</g>");
        grid.forEach(([u, v], n) => mark(pen, middle[0] + unit * u, middle[1] - unit * v, fates[k][n]));
        pen.circle(...middle, unit, "hollow");
        pen.circle(...place(worst), 9, "ring");
        pen.path(path.map(place), "blue");
        path.forEach((u) => pen.circle(...place(u), 2.6, "blue-area"));
        const shown = `level ${fixed(level)} ${level > 1 - now.alpha ? ">" : "≤"} ${fixed(1 - now.alpha)} = 1 − α: ${verdict(k)}`;
        pen.text(middle[0], top - 10, shown, `middle strong ${finds(margins) ? "green-text" : level > 0 ? "vermilion-text" : ""}`);
        return { middle, unit };
      });

      return pen.legend(8, 26 + room * (wide ? 1 : 2) - 12, width, [
        ["from here PGD finds an attack", (x, y) => mark(pen, x, y, true)],
        ["from here it does not", (x, y) => mark(pen, x, y, false)],
        ["worst point", (x, y) => pen.circle(x, y, 6, "ring")],
        ["wrong answer", (x, y) => pen.rect(x - 8, y - 6, 16, 13, "sky-area pale")],
      ]);
    };

    const move = (k, to) => {
      const length = Math.hypot(...to);
      now.away[k] = to.map((c) => c / Math.max(1, length));
    };
    BALLS.forEach((_, k) => stage.handle({
      label: `start of PGD, ${k ? "right" : "left"} ball`,
      where: () => now.away[k].map((c, i) => planes[k].middle[i] + (i ? -1 : 1) * planes[k].unit * c),
      drag: (x, y) => move(k, [x - planes[k].middle[0], planes[k].middle[1] - y].map((c) => c / planes[k].unit)),
      press: (right, up) => move(k, now.away[k].map((c, i) => Math.round(100 * c + 4 * [right, up][i]) / 100)),
      now: () => ({ value: now.away[k][0], least: -1, most: 1, words: `${now.away[k].map((c) => fixed(c)).join(", ")} from the center: ${verdict(k)}` }),
    }));
    stage.slider({ label: "leak α", least: 0.05, most: 1, steps: 95, get: () => now.alpha, set: (alpha) => { now.alpha = alpha; }, words: (alpha) => fixed(alpha) });
    stage.slider({ label: "PGD’s step", least: 0.02, most: 0.6, log: true, steps: 60, get: () => now.eta, set: (eta) => { now.eta = eta; }, words: (eta) => read(eta, 2) });
    stage.button("Start at the centers", () => { now.away = [[0, 0], [0, 0]]; });
    stage.says = () => {
      const both = (value) => found.map((_, k) => value(k)).join(" and "), share = (k) => fates[k].filter(Boolean).length / grid.length;
      return `Least margin of PGD: ${both((k) => fixed(Math.min(...found[k].margins)))}, exact: ${both((k) => fixed(found[k].least))}; `
        + `successful starts: ${both((k) => `${Math.round(100 * share(k))}%`)}.`;
    };
  };

  hand.picture("pgd", { title: "Two balls, and the path of PGD from any start", compute, show });
})();
