// Equation 2.2: the losses of one network under all its 1024 masks, their mean, and the penalty.
(() => {
  const { fixed, clamp } = hand;

  // The network of the page's first cell, to four decimals: x -> U V^T x, and its teacher M.
  const network = {
    U: [
      [-0.6518, -0.1747, 1.6637, 0.6591, -1.6414, -0.0052, -0.6235, 0.1486, -1.6082, 0.2418],
      [0.2354, 1.5756, 0.3166, 0.5105, -1.4931, 2.2527, -1.9156, 1.1018, -0.3299, -0.8806],
      [-0.6563, -0.672, 0.3802, -0.1101, 1.4826, -1.8296, -0.0031, -0.8921, 0.7759, -2.1181],
      [-0.3437, 0.2102, -1.4843, 0.9852, 0.1787, 1.0069, 0.9592, -0.9799, -0.7978, -0.2033],
    ],
    V: [
      [0.748, 0.851, -0.7097, -0.6072, -0.7978, -0.5842, -0.2379, -0.1318, 2.0581, -0.5064],
      [-0.2887, 0.4586, -0.9531, -0.3686, 0.0133, 0.7741, -1.316, 1.3715, -0.3525, 0.1694],
      [0.8471, 0.6608, 1.0592, 0.1732, -0.0196, 0.3165, -0.9957, 1.2142, -0.7754, -1.2602],
      [2.0564, -0.1364, -1.1791, 1.8523, -0.3297, 1.0621, -0.8295, -0.2488, -1.6885, -1.9089],
    ],
    M: [[-5.1845, -0.1924, 3.7809, 3.6387], [-0.0971, 6.8969, 6.4131, 7.1268], [-0.0731, -5.1678, -1.0153, -2.5775], [-1.9955, -1.033, -1.2579, 5.1864]],
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
