// Theorem 6: which singular values survive dropout. Drag them, and the rate.
(() => {
  const { read, fixed, clamp } = hand;

  // sigma: not increasing, at least 0; r: hidden units; lam: at least 0. As optimal_spectrum of the
  // library: without differences of large numbers that nearly agree. critical: the rate from which
  // on each one is lost, 0 beyond the r-th.
  const compute = ({ sigma, r, lam }) => {
    const mu = lam / r;
    let gap = 0;
    const gaps = sigma.map((s, j) => (gap += j ? j * (sigma[j - 1] - s) : 0));
    const rank = sigma.filter((s, j) => j < r && s > mu * gaps[j]).length;
    const last = rank ? sigma[rank - 1] : 0;
    const least = rank ? (last - mu * gaps[rank - 1]) / (1 + mu * rank) : 0;
    const spectrum = sigma.map((s, j) => (j < rank ? least + (s - last) : 0));
    const total = sigma.slice(0, rank).reduce((a, b) => a + b, 0);
    const level = rank ? mu / (1 + mu * rank) * total : 0;
    const lost = sigma.slice(rank).reduce((a, b) => a + b * b, 0);
    const critical = sigma.map((s, j) => (j >= r || s === 0 ? 0 : r * s / gaps[j]));
    return { rank, level, spectrum, value: level * total + lost, critical };
  };

  const RATES = [0.02, 200], MOST = 6;

  const show = (stage) => {
    const now = { sigma: [5, 4.2, 3.5, 2.4, 1.7, 1, 0.6], r: 5, lam: 1 };
    let bars, stairs, found;

    const lift = (j, to) => {  // the others give way: the order stays
      now.sigma[j] = clamp(to, 0, MOST);
      now.sigma.forEach((s, i) => { now.sigma[i] = i < j ? Math.max(s, now.sigma[j]) : Math.min(s, now.sigma[j]); });
    };

    stage.draw = (pen, width) => {
      found = compute(now);
      const wide = width >= 560, h = 170;
      const first = wide ? 0.52 * width : width;
      const middle = (j) => bars.x + (j + 0.5) * bars.w / 7;
      bars = pen.panel({ x: 30, y: 24, w: first - 40, h, xs: [0, 7], ys: [0, MOST], yticks: [0, 2, 4, 6], ylabel: "singular values" });
      bars.middle = middle;
      const half = 0.32 * bars.w / 7, water = bars.Y(found.level);
      now.sigma.forEach((s, j) => {
        const x = middle(j) - half, top = bars.Y(s), kept = bars.Y(found.level) - bars.Y(found.level + found.spectrum[j]);
        pen.rect(x, top, 2 * half, bars.Y(0) - top, j < now.r ? "hollow" : "hollow lost");
        if (j < found.rank) pen.rect(x, top, 2 * half, kept, "blue-area");
        else pen.cross(middle(j), bars.Y(0) - Math.min(12, (bars.Y(0) - top) / 2), 4, "vermilion");
        pen.text(middle(j), bars.y + h + 16, j < now.r ? `σ${"₁₂₃₄₅₆₇"[j]}` : "no unit", j < now.r ? "middle" : "tick middle");
      });
      pen.rect(bars.x, water, bars.w, bars.Y(0) - water, "water");
      pen.line(bars.x, water, bars.x + bars.w, water, "vermilion dashed");
      pen.text(bars.x + bars.w, Math.max(water - 6, 34), `level α = ${fixed(found.level)}`, "end vermilion-text");

      const x = wide ? first + 38 : 30, y = wide ? 24 : 24 + h + 62;
      stairs = pen.panel({
        x, y, w: width - x - 14, h: wide ? h : 120, xs: RATES, logx: true, ys: [0, 7.4], yticks: [1, 3, 5, 7],
        xticks: [0.1, 1, 10, 100], xlabel: "λ", ylabel: wide ? "" : "rank",
      });
      if (wide) pen.text(x - 22, 15, "rank of the best network");
      const run = [];
      for (let k = 7; k >= 0; k--) {
        const from = k === 7 ? RATES[0] : clamp(found.critical[k], ...RATES);
        const to = k ? clamp(found.critical[k - 1], ...RATES) : RATES[1];
        if (k ? to > from : found.critical[0] === 0) run.push([stairs.X(k ? from : RATES[0]), stairs.Y(k)], [stairs.X(to), stairs.Y(k)]);
      }
      pen.path(run, "ink-line");
      return y + (wide ? h : 120) + 38;
    };

    now.sigma.forEach((_, j) => stage.handle({
      label: `singular value ${j + 1}`,
      where: () => [bars.middle(j), bars.Y(now.sigma[j])],
      drag: (x, y) => lift(j, bars.Y.inverse(y)),
      press: (right, up) => lift(j, Math.round(10 * now.sigma[j] + right + up) / 10),
      now: () => ({
        value: now.sigma[j], least: 0, most: MOST,
        words: `${fixed(now.sigma[j])}, ${j < found.rank ? `keeps ${fixed(found.spectrum[j])}` : "lost"}`,
      }),
    }));
    const turn = (lam) => { now.lam = clamp(lam, ...RATES); };
    stage.handle({
      label: "dropout λ", look: "blue",
      where: () => [stairs.X(now.lam), stairs.Y(found.rank)],
      drag: (x) => turn(stairs.X.inverse(x)),
      press: (right, up) => turn(now.lam * 1.05 ** (right + up)),
      now: () => ({ value: now.lam, least: RATES[0], most: RATES[1], words: `λ ${read(now.lam)}, rank ${found.rank}` }),
    });
    stage.slider({
      label: "dropout λ", least: RATES[0], most: RATES[1], log: true, get: () => now.lam, set: turn,
      words: (lam) => `${read(lam)} (θ = ${read(1 / (1 + lam), 2)})`,
    });
    stage.slider({
      label: "units r", name: "hidden units r", least: 1, most: 7, steps: 6, get: () => now.r, set: (r) => { now.r = Math.round(r); },
    });
    stage.says = () => {
      const kept = found.spectrum.slice(0, found.rank).map((s) => fixed(s)).join(", ");
      const room = now.sigma.filter((s, j) => j >= now.r && s > found.level).length;
      return `Rank ${found.rank}${kept ? `: ${kept} remain` : ""}.`
        + (room ? ` ${room} above the level ${room > 1 ? "have" : "has"} no unit.` : "") + ` Least objective ${read(found.value, 4)}.`;
    };
  };

  hand.picture("spectrum", { title: "Singular values, the level that dropout sets, and the rank that remains", compute, show });
})();
