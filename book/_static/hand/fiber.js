// Contribution 1: U = V with two units, which turn along a fiber: the product stays, the path norm does not.
(() => {
  const { read, fixed, scale } = hand;
  const FIRST = 3, SECOND = [0.1, 3], DEGREE = Math.PI / 180, REACH = 2;

  // turn: an angle; second: the smaller singular value of the product. The units are the columns of
  // U = V = diag(sqrt 3, sqrt second) after the turn; squared and least: of the path norm psi_2.
  const compute = ({ turn, second }) => {
    const [c, s, a, b] = [Math.cos(turn), Math.sin(turn), Math.sqrt(FIRST), Math.sqrt(second)];
    const units = [[a * c, b * s], [-a * s, b * c]];
    const products = units.map(([p, q]) => p * p + q * q);
    return {
      units, products, squared: products.reduce((total, norms) => total + norms ** 2, 0), least: (FIRST + second) ** 2 / 2,
      product: [0, 1].map((i) => [0, 1].map((j) => units.reduce((total, u) => total + u[i] * u[j], 0))),
    };
  };

  const show = (stage) => {
    const now = { turn: 20 * DEGREE, second: 1 };
    const names = ["‖u₁‖‖v₁‖", "‖u₂‖‖v₂‖"], looks = ["blue", "orange"];
    let found, plane, wave;

    stage.draw = (pen, width) => {
      found = compute(now);
      const wide = width >= 560, size = Math.min(width - 20, wide ? 250 : 300);
      const left = wide ? 4 : (width - size) / 2;
      plane = { X: scale([-REACH, REACH], [left, left + size]), Y: scale([REACH, -REACH], [26, 26 + size]) };
      const { X, Y } = plane, ring = Array.from({ length: 121 }, (_, k) => compute({ ...now, turn: 3 * k * DEGREE }));
      pen.text(left + size / 2, 16, "the units turn, UVᵀ stays", "middle");
      pen.line(left, Y(0), left + size, Y(0), "grid");
      pen.line(X(0), 26, X(0), 26 + size, "grid");
      pen.path(ring.map(({ units: [[p, q]] }) => [X(p), Y(q)]), "ink-line thin dashed");
      found.units.forEach(([p, q], i) => {
        pen.arrow(X(0), Y(0), X(p), Y(q), looks[i], 0);
        pen.text(X(p) + (p < 0 ? -13 : 13), Y(q) + (q < 0 ? 18 : -10), `u${"₁₂"[i]}`, `${looks[i]}-text strong halo ${p < 0 ? "end" : ""}`);
      });

      const x = wide ? size + 62 : 44, y = wide ? 30 : size + 66, w = width - x - 12, h = wide ? size - 116 : 150;
      const share = w * found.products[0] / (FIRST + now.second);
      pen.rect(x, y, share, 22, "blue-area");
      pen.rect(x + share, y, w - share, 22, "orange-area");
      pen.line(x + w / 2, y - 6, x + w / 2, y + 28, "ink-line dashed");
      pen.text(x, y - 14, `${names[0]} = ${fixed(found.products[0])}`, "blue-text");
      pen.text(x + w, y - 14, `${names[1]} = ${fixed(found.products[1])}`, "orange-text end");
      pen.text(x + w / 2, y + 42, "equal", "tick middle");

      wave = pen.panel({
        x, y: y + 84, w, h, xs: [0, 360], ys: [found.least - 0.7, found.least + 4.4], xlabel: "angle",
        xticks: [45, 135, 225, 315].map((at) => [at, `${at}°`]), yticks: [[found.least, read(found.least)]],
      });
      pen.text(x, y + 74, `squared path norm ψ₂² = ${fixed(found.squared)}`);
      pen.path(ring.map(({ squared }, k) => [wave.X(3 * k), wave.Y(squared)]), "ink-line");
      pen.line(x, wave.Y(found.least), x + w, wave.Y(found.least), "vermilion dashed");
      pen.text(x + w, wave.Y(found.least) + 15, "smallest in the fiber", "end vermilion-text");
      pen.line(wave.X(now.turn / DEGREE), wave.Y(found.squared), wave.X(now.turn / DEGREE), wave.Y(found.least), "vermilion");
      return y + 84 + h + 40;
    };

    const turn = (angle) => { now.turn = (angle % 360 + 360) % 360 * DEGREE; };
    const press = (right, up) => turn(Math.round(now.turn / DEGREE) + up - right);
    const said = () => ({ value: Math.round(now.turn / DEGREE), least: 0, most: 360, words: `angle ${Math.round(now.turn / DEGREE)} degrees, squared path norm ${fixed(found.squared)}` });
    looks.forEach((look, i) => stage.handle({
      label: `unit ${i + 1}`, look, press, now: said,
      where: () => [plane.X(found.units[i][0]), plane.Y(found.units[i][1])],
      drag: (x, y) => turn(Math.atan2((plane.Y(0) - y) / Math.sqrt(now.second), (x - plane.X(0)) / Math.sqrt(FIRST)) / DEGREE - 90 * i),
    }));
    stage.handle({
      label: "angle", look: "vermilion", now: said,
      where: () => [wave.X(now.turn / DEGREE), wave.Y(found.squared)],
      drag: (x) => turn(Math.min(wave.X.inverse(x), 359.9)),
      press: (right, up) => turn(Math.round(now.turn / DEGREE) + right + up),
    });
    stage.slider({
      label: "singular value σ₂", least: SECOND[0], most: SECOND[1], steps: 29, get: () => now.second,
      set: (second) => { now.second = Math.round(10 * second) / 10; }, words: (second) => read(second),
    });
    stage.says = () => {
      const over = found.squared - found.least;
      return `UVᵀ = diag(${FIRST}, ${read(now.second)}) at every angle. At ${Math.round(now.turn / DEGREE)}° ψ₂² = ${fixed(found.squared)}`
        + (over < 0.005 ? ", the smallest in the fiber: equal norms." : `, ${fixed(over)} above the smallest in the fiber.`);
    };
  };

  hand.picture("fiber", { title: "Two units that turn, their products of norms, and the path norm", compute, show });
})();
