// Equation 2.2: the losses of one network under all its 1024 masks, their mean, and the penalty.
(() => {
  const { fixed, clamp } = hand;

  // The network of the page's first cell, to two decimals: x -> U V^T x, and its teacher M.
  const network = {
    U: [
      [-0.65, -0.17, 1.66, 0.66, -1.64, -0.01, -0.62, 0.15, -1.61, 0.24],
      [0.24, 1.58, 0.32, 0.51, -1.49, 2.25, -1.92, 1.1, -0.33, -0.88],
      [-0.66, -0.67, 0.38, -0.11, 1.48, -1.83, 0, -0.89, 0.78, -2.12],
      [-0.34, 0.21, -1.48, 0.99, 0.18, 1.01, 0.96, -0.98, -0.8, -0.2],
    ],
    V: [
      [0.75, 0.85, -0.71, -0.61, -0.8, -0.58, -0.24, -0.13, 2.06, -0.51],
      [-0.29, 0.46, -0.95, -0.37, 0.01, 0.77, -1.32, 1.37, -0.35, 0.17],
      [0.85, 0.66, 1.06, 0.17, -0.02, 0.32, -1, 1.21, -0.78, -1.26],
      [2.06, -0.14, -1.18, 1.85, -0.33, 1.06, -0.83, -0.25, -1.69, -1.91],
    ],
    M: [[-5.18, -0.19, 3.78, 3.64], [-0.1, 6.9, 6.41, 7.13], [-0.07, -5.17, -1.02, -2.58], [-2, -1.03, -1.26, 5.19]],
  };
  const UNITS = 10, LOSSES = [12, 4200], BARS = 56;

  // |M - U diag(b) V^T / theta|^2 is square - 2 linear(b) / theta + quadratic(b) / theta^2.
  const { U, V, M } = network;
  const sum = (n, term) => Array.from({ length: n }, (_, k) => term(k)).reduce((a, b) => a + b, 0);
  const inner = (A, i, B, j) => sum(4, (k) => A[k][i] * B[k][j]);
  const square = sum(4, (k) => sum(4, (l) => M[k][l] ** 2));
  const seen = Array.from({ length: UNITS }, (_, i) => sum(4, (k) => sum(4, (l) => U[k][i] * M[k][l] * V[l][i])));
  const met = seen.map((_, i) => seen.map((_, j) => inner(U, i, U, j) * inner(V, i, V, j)));
  const masks = Array.from({ length: 2 ** UNITS }, (_, number) => {
    const kept = seen.map((_, i) => i).filter((i) => (number >> i) & 1);
    const linear = kept.reduce((a, i) => a + seen[i], 0);
    const quadratic = kept.reduce((a, i) => a + kept.reduce((b, j) => b + met[i][j], 0), 0);
    return { count: kept.length, linear, quadratic };
  });
  const loss = ({ linear, quadratic }, theta) => square - 2 * linear / theta + quadratic / theta ** 2;

  const bar = (value) => Math.floor(BARS * Math.log(value / LOSSES[0]) / Math.log(LOSSES[1] / LOSSES[0]));
  const edge = (k) => LOSSES[0] * (LOSSES[1] / LOSSES[0]) ** (k / BARS);

  // theta: keep probability. bars: the probability that the loss lies between two edges.
  const compute = ({ theta }) => {
    const bars = Array(BARS).fill(0);
    let mean = 0;
    for (const mask of masks) {
      const chance = theta ** mask.count * (1 - theta) ** (UNITS - mask.count), value = loss(mask, theta);
      mean += chance * value;
      bars[bar(value)] += chance;
    }
    const penalty = (1 - theta) / theta * sum(UNITS, (i) => met[i][i]);
    return { clean: loss(masks.at(-1), 1), penalty, mean, bars };
  };

  const RATES = [0.2, 0.95];

  const show = (stage) => {
    stage.output.classList.add("hand-unseen");  // all of it is written into the picture
    const now = { theta: 0.5, mask: null };
    let found;
    stage.draw = (pen, width) => {
      found = compute(now);
      const h = 108;
      const { X, Y, x, w, y } = pen.panel({
        x: 8, y: 22, w: width - 16, h, xs: LOSSES, logx: true, ys: [0, 1.05 * Math.max(...found.bars)],
        xticks: [20, 50, 100, 200, 500, 1000, 2000], grid: false,
      });
      pen.text(x + w, y + h + 16, "loss", "end");
      found.bars.forEach((chance, k) => {
        if (chance) pen.rect(X(edge(k)) + 0.5, Y(chance), X(edge(k + 1)) - X(edge(k)) - 1, y + h - Y(chance), "sky-area");
      });
      const from = X(found.clean), to = X(found.mean);
      pen.line(from, y, from, y + h, "ink-line dashed");
      pen.line(to, y, to, y + h, "vermilion");
      pen.arrow(from + 3, y + 12, to - 3, y + 12, "ink-line");
      pen.text(from, y - 8, `without dropout ${fixed(found.clean, 1)}`, "halo");
      const late = to > x + w - 100;
      pen.text(Math.max(to, from + 150), y - 8, `mean ${fixed(found.mean, 1)}`, `vermilion-text halo${late ? " end" : ""}`);
      if (to - from > 90) pen.text((from + to) / 2, y + 30, `penalty ${fixed(found.penalty, 1)}`, "middle halo");
      if (now.mask !== null) {
        const at = X(clamp(loss(masks[now.mask], now.theta), ...LOSSES));
        pen.line(at, y + 44, at, y + h, "blue dashed");
        pen.circle(at, y + 44, 5, "blue-area");
        const left = clamp(at - 50, x, x + w - 105);
        pen.text(at + (at > x + w - 90 ? -9 : 9), y + 48, `loss ${fixed(loss(masks[now.mask], now.theta), 1)}`, `blue-text halo${at > x + w - 90 ? " end" : ""}`);
        seen.forEach((_, i) => pen.circle(left + 5 + 10.5 * i, y + 62, 3.8, (now.mask >> i) & 1 ? "blue-area" : "hollow"));
      }
      return y + h + 21;
    };
    stage.slider({
      label: "θ", name: "keep probability θ", least: RATES[0], most: RATES[1], steps: 75,
      get: () => now.theta, set: (theta) => { now.theta = Math.round(100 * theta) / 100; }, words: (theta) => fixed(theta),
    });
    stage.button("Flip the coins", () => {
      now.mask = seen.reduce((mask, _, i) => mask + (Math.random() < now.theta ? 2 ** i : 0), 0);
    });
    stage.says = () => (now.mask === null
      ? `Without dropout ${fixed(found.clean)}, penalty ${fixed(found.penalty)}: mean over all 1024 masks ${fixed(found.mean)}.`
      : `This mask keeps ${masks[now.mask].count} of 10 units: loss ${fixed(loss(masks[now.mask], now.theta), 1)}. Mean ${fixed(found.mean, 1)}.`);
  };

  hand.picture("masks", { title: "The losses of one network under all its masks", network, compute, show });
})();
