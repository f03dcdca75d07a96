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

  // The least k whose chance to be at least Bin(n, p) is u: chances relative to that of the mode.
  const binomial = (n, p) => {
    const mode = Math.min(n, Math.floor((n + 1) * p)), odds = p / (1 - p), up = [1], down = [];
    for (let k = mode, c = 1; k < n && c > 1e-18; k++) up.push(c *= (n - k) / (k + 1) * odds);
    for (let k = mode, c = 1; k > 0 && c > 1e-18; k--) down.push(c *= k / (n - k + 1) / odds);
    const chances = [...down.reverse(), ...up], total = chances.reduce((a, b) => a + b, 0);
    return (u) => {
      let k = 0;
      for (let left = u * total; k < chances.length - 1 && left > chances[k]; k++) left -= chances[k];
      return mode - down.length + k;
    };
  };

  // K inputs, width n (of first-one networks the nearest multiple of K), depth d, keep probability
  // p. The least criterion of each kind, and from which width on each of two beats the first kind.
  // answers(coins): those of each kind to inputs 0 and to inputs 1, each row of d coins a dropout.
  const compute = ({ K, n, d, p }) => {
    const multiple = K * Math.max(1, Math.round(n / K)), q = 1 - p, e = q ** K, spread = kappa(n, d, p);
    const answers = (coins) => {
      const inputs = binomial(K, p), layer = binomial(n, p), group = binomial(multiple / K, p), next = binomial(multiple, p);
      const M = q + spread * (q + K * p), beta = 1 / (K * p + 2 * M);
      const high = (spread + 1 - e) / (2 * spread + 1 - e), fall = (1 - e) / (1 + e) / (2 * spread + 1 - e);
      const bias = 2 * firstOne(K, multiple, d, p), rise = (1 - bias) * (1 - bias / (1 - bias)) / (1 - e);
      const all = coins.map(([u, ...rest]) => {
        const kept = inputs(u), passes = rest.slice(0, d - 1).reduce((a, v) => a * layer(v) / (n * p), 1);
        const gadget = rest.slice(0, d - 1).reduce((a, v, k) => a * (k ? next(v) / (multiple * p) : group(v) * K / (multiple * p)), 1);
        return [
          [M * beta, M * beta + beta * kept * passes],
          [high - fall * passes, kept ? high : high - fall * passes],
          [bias, bias + (kept ? rise * gadget : 0)],
        ];
      });
      return NAMES.map((_, i) => [0, 1].map((example) => all.map((answer) => answer[i][example])));
    };
    return {
      multiple, answers,
      criteria: [nonNegative(K, n, d, p), detector(K, n, d, p), firstOne(K, multiple, d, p)],
      wins: [
        first(1, (m) => detector(K, m, d, p) < nonNegative(K, m, d, p)),
        first(K, (m) => firstOne(K, m, d, p) < nonNegative(K, m, d, p)),
      ],
    };
  };

  const show = (stage) => {
    const now = { K: 16, n: 240, d: 2, p: 0.5 }, SHOWN = 60, RANGE = [-0.45, 1.6];
    const coin = hand.coins(1), draw = () => Array.from({ length: SHOWN }, () => Array.from({ length: 8 }, coin));
    let found, chart, drawn = draw();
    const leader = () => found.criteria.reduce((best, value, i) => (value < found.criteria[best] && (i < 2 || found.multiple <= now.n) ? i : best), 0);
    const of = (i) => (i === 2 && found.multiple !== now.n ? ` (width ${found.multiple})` : "");
    stage.draw = (pen, width) => {
      found = compute(now);
      const { K, d, p } = now, wide = width >= 560;
      const floor = 10 ** Math.floor(Math.log10(Math.max((1 - p) ** K / 4, 1e-5)));
      const powers = Array.from({ length: Math.round(Math.log10(1 / floor)) }, (_, k) => floor * 10 ** k);
      chart = pen.panel({
        x: 34, y: 28, w: (wide ? 0.46 * width : width) - 48, h: wide ? 216 : 150, xs: WIDTHS, logx: true, ys: [floor, 0.5], logy: true,
        xticks: [1, 10, 100, 1000, 10000, 100000].map((n) => [n, n < 1000 ? n : `${n / 1000}k`]),
        yticks: powers.map((v) => [v, `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[Math.round(-Math.log10(v))]}`]), xlabel: "width n: drag it",
      });
      pen.text(0, 14, "least criterion: mean squared error", "strong");
      const { X, Y, x, w, y, h } = chart, grid = Array.from({ length: 121 }, (_, k) => 10 ** (k / 24));
      [nonNegative, detector, firstOne].forEach((kind, i) => pen.path(
        grid.filter((n) => i < 2 || n >= K).map((n) => [X(n), Y(Math.max(kind(K, n, d, p), floor))]), `${LOOKS[i]}${i === 2 ? " dashed" : ""}`,
      ));
      pen.line(X(now.n), y, X(now.n), y + h, "ink-line thin");
      found.criteria.forEach((value, i) => pen.circle(X(i < 2 ? now.n : clamp(found.multiple, ...WIDTHS)), Y(Math.max(value, floor)), 5, `${LOOKS[i]}-area`));

      // the answers of the three networks, under the same dropouts
      const left = wide ? 0.46 * width + 14 : 12, top = wide ? 28 : y + h + 70, room = wide ? 72 : 62;
      const A = hand.scale(RANGE, [left, width - 12]), answers = found.answers(drawn);
      pen.text(left, top - 14, `answers at width ${now.n}: one dot per dropout`, "strong");
      for (const target of [0, 1]) {
        pen.line(A(target), top, A(target), top + 3 * room, "ink-line dashed thin");
        pen.text(A(target), top + 3 * room + 16, `inputs ${target}: aim at ${target}`, "tick middle");
      }
      NAMES.forEach((name, i) => {
        const base = top + i * room;
        pen.text(left, base + 14, `${name}${of(i)}: ${read(found.criteria[i], 3)}${i === leader() ? ", least" : ""}`, `${LOOKS[i]}-text strong halo`);
        answers[i].forEach((example, one) => example.forEach((answer, k) => pen.circle(
          A(clamp(answer, ...RANGE)), base + 24 + (room - 30) * k / SHOWN, one ? 3 : 2.4, one ? `${LOOKS[i]}-area` : `${LOOKS[i]} hole`,
        )));
      });
      return Math.max(y + h + 38, top + 3 * room + 22);
    };
    const widen = (n) => { now.n = clamp(Math.round(n), ...WIDTHS); };
    const handle = stage.handle({
      label: "width n",
      where: () => {
        LOOKS.forEach((look, i) => handle?.classList.toggle(look, i === leader()));
        return [chart.X(now.n), chart.y + chart.h];
      },
      drag: (x) => widen(chart.X.inverse(x)),
      press: (right, up) => widen(now.n + (right + up) * Math.max(1, Math.round(now.n / 20))),
      now: () => ({ value: now.n, least: WIDTHS[0], most: WIDTHS[1], words: `${now.n}: ${NAMES[leader()]} least` }),
    });
    stage.slider({ label: "inputs K", least: 2, most: 32, steps: 30, get: () => now.K, set: (K) => { now.K = Math.round(K); } });
    stage.slider({ label: "depth d", least: 2, most: 8, steps: 6, get: () => now.d, set: (d) => { now.d = Math.round(d); } });
    stage.button("Drop again", () => { drawn = draw(); });
    stage.says = () => {
      const rivals = [found.criteria[0], nonNegative(now.K, found.multiple, now.d, now.p)];  // of the same width
      const factor = (x) => (x < 1.05 ? "hardly" : `${read(x, 2)} times`), from = (n) => (n === null ? "at no width up to a billion" : `from n = ${n} on`);
      const [alarm, gadget] = rivals.map((plain, i) => {
        const ratio = plain / found.criteria[i + 1];
        return [`${factor(Math.max(ratio, 1 / ratio))} ${ratio > 1 ? "better" : "worse"}`, from(found.wins[i])];
      });
      return `At width ${now.n} the detector is ${alarm[0]} than the best without negative weights (it wins ${alarm[1]}), the first-one network${of(2)} ${gadget[0]} (${gadget[1]}).`;
    };
  };

  hand.picture("race", { title: "Three kinds of networks: the least criterion at each width, and the answers behind it", compute, show });
})();
