// Example 3.G: two directions share the width of deep networks; at some rate the second is dropped.
(() => {
  const { fixed, clamp } = hand;
  const WIDTH = 2, CELLS = 400;

  // k hidden layers of width 2, singular values 1 and second, rate lam: the gain of the share a for
  // direction 1, its maxima, and the singular values of the best network.
  const compute = ({ k, second, lam }) => {
    const share = (a) => (a / (a + lam)) ** k;
    const slope = (a) => (a > 0 ? k * share(a) * lam / (a * (a + lam)) : k === 1 ? 1 / lam : 0);
    const gain = (a) => share(a) + second ** 2 * share(WIDTH - a);
    const rise = (a) => slope(a) - second ** 2 * slope(WIDTH - a);
    const maxima = [];
    if (rise(0) < 0 || (rise(0) === 0 && rise(1e-9) < 0)) maxima.push(0);
    for (let c = 0; c < CELLS; c++) {
      let low = Math.max(WIDTH * c / CELLS, 1e-12), high = Math.min(WIDTH * (c + 1) / CELLS, WIDTH - 1e-12);
      if (!(rise(low) > 0 && rise(high) <= 0)) continue;
      while (high - low > 1e-15 * WIDTH) {
        const middle = (low + high) / 2;
        if (middle === low || middle === high) break;
        if (rise(middle) > 0) low = middle; else high = middle;
      }
      maxima.push(high);
    }
    if (rise(WIDTH - 1e-12) > 0) maxima.push(WIDTH);
    const best = maxima.reduce((a, b) => (gain(b) > gain(a) * (1 + 1e-14) ? b : a));
    return { maxima, best, value: -gain(best), spectrum: [share(best), second * share(WIDTH - best)], gain };
  };
  const LAM = [0.1, 4];

  const show = (stage) => {
    const now = { k: 2, second: 1, lam: 1 };
    let found, hill, chart, paths, cached;
    stage.draw = (pen, width) => {
      found = compute(now);
      if (cached !== `${now.k} ${now.second}`) {
        cached = `${now.k} ${now.second}`;
        paths = Array.from({ length: 121 }, (_, j) => LAM[0] * (LAM[1] / LAM[0]) ** (j / 120))
          .map((lam) => ({ lam, spectrum: compute({ ...now, lam }).spectrum.sort((a, b) => b - a) }));
      }
      const wide = width >= 560, h = wide ? 210 : 150;
      const grid = Array.from({ length: 161 }, (_, j) => WIDTH * j / 160), heights = grid.map(found.gain);
      const low = Math.min(...heights), high = Math.max(...heights), room = Math.max(high - low, 1e-6);
      hill = pen.panel({
        x: 20, y: 30, w: (wide ? 0.5 * width : width) - 40, h, xs: [0, WIDTH], ys: [low - 0.1 * room, high + 0.2 * room],
        xticks: [0, 0.5, 1, 1.5, 2], xlabel: "width a for direction 1, 2 − a for direction 2", grid: false,
      });
      pen.text(hill.x, 14, "gain, and its maxima");
      pen.path(grid.map((a, j) => [hill.X(a), hill.Y(heights[j])]), "ink-line");
      const top = found.gain(found.best);
      for (const a of found.maxima) {
        const level = found.gain(a) > top * (1 - 1e-9);
        pen.circle(hill.X(a), hill.Y(found.gain(a)), 7, level ? "blue-area" : "paper-area vermilion");
      }
      const x = wide ? 0.5 * width + 34 : 34, y = wide ? 30 : h + 100;
      chart = pen.panel({
        x, y, w: width - x - 14, h, xs: LAM, logx: true, ys: [0, 1], xticks: [0.1, 0.2, 0.5, 1, 2, 4], yticks: [0, 0.5, 1], xlabel: "dropout λ",
      });
      pen.text(x - 18, y - 16, "singular values of the best network");
      [0, 1].forEach((i) => {
        const look = i ? "orange dashed" : "blue";
        let run = [];
        paths.forEach(({ lam, spectrum }, j) => {
          if (j && spectrum[1] === 0 && paths[j - 1].spectrum[1] > 0.02) {  // the jump
            pen.path(run, look);
            const [from, to] = [run.at(-1), [chart.X(lam), chart.Y(spectrum[i])]];
            pen.path([from, to], `${look} dotted thin`);
            run = [];
          }
          run.push([chart.X(lam), chart.Y(spectrum[i])]);
        });
        pen.path(run, look);
      });
      const sorted = [...found.spectrum].sort((a, b) => b - a);
      pen.line(chart.X(now.lam), y, chart.X(now.lam), y + h, "ink-line thin");
      sorted.forEach((s, i) => pen.circle(chart.X(now.lam), chart.Y(s), 5, i ? "orange-area" : "blue-area"));
      return y + h + 40;
    };
    const turn = (lam) => { now.lam = clamp(lam, ...LAM); };
    stage.handle({
      label: "dropout λ",
      where: () => [chart.X(now.lam), chart.y + chart.h],
      drag: (x) => turn(chart.X.inverse(x)),
      press: (right, up) => turn(now.lam + 0.01 * (right + up)),
      now: () => ({ value: now.lam, least: LAM[0], most: LAM[1], words: fixed(now.lam, 3) }),
    });
    stage.slider({ label: "hidden layers k", least: 1, most: 4, steps: 3, get: () => now.k, set: (k) => { now.k = Math.round(k); } });
    stage.slider({
      label: "second direction", name: "second singular value of the teacher", least: 0.5, most: 1, steps: 50,
      get: () => now.second, set: (second) => { now.second = Math.round(100 * second) / 100; }, words: (second) => fixed(second),
    });
    stage.button("λ = √2", () => { now.k = 2; now.second = 1; now.lam = Math.SQRT2; });
    stage.says = () => {
      const sorted = [...found.spectrum].sort((a, b) => b - a);
      const rank = sorted.filter((s) => s > 1e-12).length;
      const level = found.maxima.filter((a) => found.gain(a) > found.gain(found.best) * (1 - 1e-9)).length;
      const tie = level > 1 && rank === 1 && found.maxima.length > 2 ? " At this rate rank 1 and rank 2 are equally good: the jump." : "";
      return `λ = ${fixed(now.lam, 3)}: singular values ${fixed(sorted[0], 3)} and ${fixed(sorted[1], 3)}, rank ${rank}.${tie}`;
    };
  };

  hand.picture("jump", { title: "How two directions share the width, and what remains of them", compute, show });
})();
