// Detector, first-one network, and the best network without negative weights: who wins at which width.
(() => {
  const { read, clamp } = hand;
  const WIDTHS = [1, 1e5], NAMES = ["no negative weights", "detector", "first-one"], LOOKS = ["vermilion", "blue", "green"];

  const kappa = (n, d, p) => Math.expm1((d - 1) * Math.log1p((1 - p) / (n * p)));
  const nonNegative = (K, n, d, p) => {
    const M = 1 - p + kappa(n, d, p) * (1 - p + K * p);
    return M / (K * p + 2 * M) / 2;
  };
  const detector = (K, n, d, p) => {
    const e = (1 - p) ** K;
    return (1 - (1 - e) ** 2 / ((1 + e) * (1 - e + 2 * kappa(n, d, p)))) / 4;
  };
  const firstOne = (K, n, d, p) => {
    const q = 1 - p, e = q ** K;
    const spread = (1 + q * K / (n * p)) * (1 + q / (n * p)) ** (d - 2);
    const tau = 1 - (1 - e) / spread;
    return tau / (2 * (1 + tau));
  };
  // The least n = step, 2 step, ... at which wins(n) is true, which then stays so; null if none.
  const first = (step, wins) => {
    let low = 0, high = 1;
    while (high * step < 1e9 && !wins(high * step)) { low = high; high *= 2; }
    if (!wins(high * step)) return null;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (wins(middle * step)) high = middle; else low = middle;
    }
    return high * step;
  };

  // K inputs, width n (of first-one networks the nearest multiple of K), depth d, keep probability
  // p. The least criterion of each kind, and from which width on each of two beats the first kind.
  const compute = ({ K, n, d, p }) => {
    const multiple = K * Math.max(1, Math.round(n / K));
    return {
      multiple,
      criteria: [nonNegative(K, n, d, p), detector(K, n, d, p), firstOne(K, multiple, d, p)],
      wins: [
        first(1, (m) => detector(K, m, d, p) < nonNegative(K, m, d, p)),
        first(K, (m) => firstOne(K, m, d, p) < nonNegative(K, m, d, p)),
      ],
    };
  };

  const show = (stage) => {
    const now = { K: 16, n: 240, d: 2, p: 0.5 };
    let found, chart;
    stage.draw = (pen, width) => {
      found = compute(now);
      const { K, d, p } = now;
      const floor = 10 ** Math.floor(Math.log10(Math.max((1 - p) ** K / 4, 1e-9)));
      const wide = width >= 560, h = wide ? 240 : 220;
      const powers = Array.from({ length: Math.round(Math.log10(1 / floor)) }, (_, k) => floor * 10 ** k);
      const skip = Math.ceil(powers.length / 5);
      chart = pen.panel({
        x: 46, y: 26, w: width - 60, h, xs: WIDTHS, logx: true, ys: [floor, 0.5], logy: true,
        xticks: [1, 10, 100, 1000, 10000, 100000].map((n) => [n, n < 1000 ? n : `${n / 1000}k`]),
        yticks: powers.filter((_, k) => k % skip === 0).map((v) => [v, `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[Math.round(-Math.log10(v))]}`]),
        xlabel: "width n",
      });
      pen.text(0, 14, "least criterion", "");
      const { X, Y, x, w, y } = chart;
      const grid = Array.from({ length: 121 }, (_, k) => 10 ** (5 * k / 120));
      const kinds = [nonNegative, detector, firstOne];
      kinds.forEach((kind, i) => pen.path(
        grid.filter((n) => i < 2 || n >= K).map((n) => [X(n), Y(Math.max(kind(K, n, d, p), floor))]), `${LOOKS[i]}${i === 2 ? " dashed" : ""}`,
      ));
      // who is least at which width
      let from = 0;
      const least = (n) => [0, 1, 2].filter((i) => i < 2 || n >= K).reduce((a, b) => (kinds[b](K, n, d, p) < kinds[a](K, n, d, p) ? b : a));
      for (let k = 1; k <= 121; k++) {
        if (k < 121 && least(grid[k]) === least(grid[from])) continue;
        pen.rect(X(grid[from]), y + h + 40, X(grid[Math.min(k, 120)]) - X(grid[from]), 10, `${LOOKS[least(grid[from])]}-area`);
        from = k;
      }
      pen.text(x, y + h + 66, "least of the three at each width", "tick");
      pen.line(X(now.n), y, X(now.n), y + h + 50, "ink-line thin");
      found.criteria.forEach((value, i) => pen.circle(X(i < 2 ? now.n : clamp(found.multiple, ...WIDTHS)), Y(Math.max(value, floor)), 5, `${LOOKS[i]}-area`));
      NAMES.forEach((name, i) => {
        const left = x + 10, top = y + h - 50 + 19 * i;
        pen.line(left, top - 4, left + 26, top - 4, `${LOOKS[i]}${i === 2 ? " dashed" : ""}`);
        pen.text(left + 33, top, name, "halo");
      });
      return y + h + 72;
    };
    const widen = (n) => { now.n = clamp(Math.round(n), ...WIDTHS); };
    stage.handle({
      label: "width n",
      where: () => [chart.X(now.n), chart.y + chart.h],
      drag: (x) => widen(chart.X.inverse(x)),
      press: (right, up) => widen(now.n + (right + up) * Math.max(1, Math.round(now.n / 20))),
      now: () => ({ value: now.n, least: WIDTHS[0], most: WIDTHS[1], words: `${now.n}` }),
    });
    stage.slider({ label: "inputs K", least: 2, most: 32, steps: 30, get: () => now.K, set: (K) => { now.K = Math.round(K); } });
    stage.slider({ label: "depth d", least: 2, most: 8, steps: 6, get: () => now.d, set: (d) => { now.d = Math.round(d); } });
    stage.slider({ label: "keep p", name: "keep probability p", least: 0.1, most: 0.9, steps: 80, get: () => now.p, set: (p) => { now.p = Math.round(100 * p) / 100; } });
    const from = (n) => (n === null ? "at no width up to a billion" : `from n = ${n} on`);
    const width = (i) => (i === 2 && found.multiple !== now.n ? ` (of width ${found.multiple}, a multiple of K)` : "");
    stage.says = () => `At n = ${now.n}: ${found.criteria.map((value, i) => `${NAMES[i]} ${read(value, 3)}${width(i)}`).join(", ")}. `
      + `Without negative weights one loses to the detector ${from(found.wins[0])}, to the first-one network ${from(found.wins[1])}.`;
  };

  hand.picture("race", { title: "The least criterion of three kinds of networks against their width", compute, show });
})();
