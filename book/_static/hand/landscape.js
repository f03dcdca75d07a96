// The landscape of Theorem 7 with two weights: training with dropout from anywhere ends equalized.
(() => {
  const { fixed, clamp, coins } = hand;
  const REACH = 1.4, RATE = [0, 2], STEPS = 1600, SIZE = 0.01, FRAMES = 100;

  // M = 1, U = (u1, u2): the objective, its gradient, and where it vanishes (all up to signs).
  const objective = ([p, q], lam) => (1 - p * p - q * q) ** 2 + lam * (p ** 4 + q ** 4);
  const gradient = ([p, q], lam) => [p, q].map((u) => -4 * u * (1 - p * p - q * q) + 4 * lam * u ** 3);
  // One step of training with dropout: mask (0 or 1 for each unit), theta = 1 / (1 + lam).
  const step = ([p, q], mask, lam, size) => {
    const b = mask.map((kept) => kept * (1 + lam)), rest = 1 - b[0] * p * p - b[1] * q * q;
    return [p + size * 4 * b[0] * p * rest, q + size * 4 * b[1] * q * rest];
  };

  // start: u1, u2. lam: at least 0. The mean step over the four masks, and a descent without coins.
  const compute = ({ start, lam }) => {
    const theta = 1 / (1 + lam), descent = [start];
    const mean = [0, 0];
    for (const mask of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
      const chance = mask.reduce((share, kept) => share * (kept ? theta : 1 - theta), 1);
      step(start, mask, lam, SIZE).forEach((u, i) => { mean[i] += chance * u; });
    }
    while (descent.length <= 200) {
      const u = descent.at(-1), slope = gradient(u, lam);
      descent.push(u.map((c, i) => c - SIZE * slope[i]));
    }
    return {
      value: objective(start, lam), mean, end: descent.at(-1),
      minimum: Math.sqrt(1 / (2 + lam)), saddle: Math.sqrt(1 / (1 + lam)), least: lam / (2 + lam),
    };
  };

  const train = ({ start, lam, seed }) => {
    const coin = coins(seed), path = [start];
    const size = (k) => 0.25 * SIZE * (1 + 3 * (1 + Math.cos(Math.PI * k / STEPS)) / 2);
    for (let k = 0; k < STEPS; k++) {
      const mask = [0, 1].map(() => (coin() * (1 + lam) < 1 ? 1 : 0));
      path.push(step(path.at(-1), mask, lam, size(k)).map((c) => clamp(c, -3, 3)));
    }
    return path.filter((_, k) => k % (STEPS / 400) === 0);
  };

  const show = (stage) => {
    const now = { start: [1.15, 0.12], lam: 0.5, seed: 3, frame: FRAMES };
    let found, plane, path, cached;
    const levels = Array.from({ length: 14 }, (_, k) => 0.02 * 1.55 ** k);

    stage.draw = (pen, width) => {
      const wide = width >= 600, size = Math.min(wide ? 380 : width - 44, 380);
      found = compute(now);
      const key = [...now.start, now.lam, now.seed].join();
      if (cached !== key) { path = train(now); cached = key; }
      const shown = path.slice(0, 1 + Math.round((path.length - 1) * now.frame / FRAMES));
      plane = pen.panel({
        x: 34, y: 24, w: size, h: size, xs: [-REACH, REACH], ys: [-REACH, REACH], xticks: [-1, 0, 1], yticks: [-1, 0, 1],
        xlabel: "u₁", ylabel: "u₂", grid: false,
      });
      const { X, Y } = plane, place = ([p, q]) => [X(p), Y(q)];
      pen.contours((p, q) => objective([p, q], now.lam), plane, [-REACH, REACH], levels.map((c) => found.least + c), "level");
      const signs = [1, -1], { minimum: m, saddle: s } = found;
      if (now.lam > 0) {
        for (const a of signs) for (const b of signs) pen.star(X(a * m), Y(b * m), 9, "ink-area");
        for (const a of signs) { pen.cross(X(a * s), Y(0), 5, "ink-line"); pen.cross(X(0), Y(a * s), 5, "ink-line"); }
      } else pen.circle(X(0), Y(0), X(1) - X(0), "ink-line dashed");
      pen.circle(X(0), Y(0), 5, "hollow");
      pen.path(shown.map(place), "vermilion");
      pen.circle(...place(shown.at(-1)), 5, "vermilion-area");

      const x = wide ? size + 84 : 44, y = wide ? 36 : size + 88, h = wide ? 220 : 120;
      const bars = pen.panel({ x, y, w: width - x - 12, h, xs: [0, STEPS], ys: [0, 1.6], xticks: [0, 500, 1000, 1500], yticks: [0, 0.5, 1, 1.5], xlabel: "steps of training with dropout" });
      pen.text(x, y - 12, "importance of each unit");
      const curve = (i) => shown.map((u, k) => [bars.X(k * STEPS / 400), bars.Y(Math.min(u[i] ** 2, 1.6))]);
      pen.line(x, bars.Y(m * m), x + bars.w, bars.Y(m * m), "ink-line dashed thin");
      pen.path(curve(0), "blue");
      pen.path(curve(1), "orange");
      pen.text(x + bars.w - 4, y + 14, "u₁²", "end blue-text strong");
      pen.text(x + bars.w - 4, y + 32, "u₂²", "end orange-text strong");
      return Math.max(size + 62, y + h + 42);
    };
    const move = (to) => { stage.stop(); now.frame = FRAMES; now.start = to.map((c) => clamp(c, -REACH, REACH)); };
    stage.handle({
      label: "start of training",
      where: () => [plane.X(now.start[0]), plane.Y(now.start[1])],
      drag: (x, y) => move([plane.X.inverse(x), plane.Y.inverse(y)].map((c) => (Math.abs(c) < 0.03 ? 0 : c))),
      press: (right, up) => move([now.start[0] + 0.02 * right, now.start[1] + 0.02 * up].map((c) => Math.round(100 * c) / 100)),
      now: () => ({ value: now.start[0], least: -REACH, most: REACH, words: now.start.map((c) => fixed(c)).join(", ") }),
    });
    stage.slider({
      label: "dropout λ", least: RATE[0], most: RATE[1], get: () => now.lam,
      set: (lam) => { stage.stop(); now.frame = FRAMES; now.lam = lam; }, words: (lam) => `${fixed(lam)} (θ = ${fixed(1 / (1 + lam))})`,
    });
    stage.button("Train", () => stage.play(FRAMES, (k) => { now.frame = k; }));
    stage.button("Other coins", () => { now.seed += 1; stage.play(FRAMES, (k) => { now.frame = k; }); });
    stage.says = () => {
      const end = path.at(-1).map(Math.abs), [p, q] = end.map((c) => fixed(c * c));
      const where = Math.min(...end) < 0.02 ? (Math.max(...end) < 0.02 ? "it stays at the top" : "one unit is dead, and stays so: a saddle")
        : now.lam === 0 ? "without dropout every split is as good, and it stays what it was" : Math.abs(end[0] - end[1]) < 0.12 ? "equalized" : "on its way";
      const best = now.lam ? ` (best: ${fixed(found.minimum ** 2)} each)` : "";
      return `Importance at the end: ${p} and ${q}${best}: ${where}.`;
    };
  };

  hand.picture("landscape", { title: "The objective of dropout over two weights, and a run of training", compute, show });
})();
