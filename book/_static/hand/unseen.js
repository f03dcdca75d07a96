// Equation 4.1 with two measurements of a 2 by 2 matrix: what they do not see is a plane, and the price on it.
(() => {
  const { fixed, clamp } = hand;
  const REACH = 1.5, HIGH = 2.3, TURN = 2 * Math.PI, HALF = Math.SQRT1_2;
  const SEEN = [[[1, 0], [0, 0]], [[0, HALF], [HALF, 0]]], UNSEEN = [[[0, 0], [0, 1]], [[0, HALF], [-HALF, 0]]];
  const inner = (A, B) => A.flatMap((row, i) => row.map((c, j) => c * B[i][j])).reduce((total, c) => total + c, 0);
  const sum = (M, N, t) => M.map((row, i) => row.map((c, j) => c + t * N[i][j]));

  // The truth is diag(1, second); X is t away from it, in the unseen direction of an angle. price: of a
  // place of the plane, the squared nuclear norm over the two columns; least: of the whole plane.
  const compute = ({ second, angle, t }) => {
    const truth = [[1, 0], [0, second]];
    const at = ([a, b]) => sum(sum(truth, UNSEEN[0], a), UNSEEN[1], b);
    const price = (place) => {
      const X = at(place), determinant = X[0][0] * X[1][1] - X[0][1] * X[1][0];
      return (inner(X, X) + 2 * Math.abs(determinant)) / 2;
    };
    const place = [t * Math.cos(angle), t * Math.sin(angle)], X = at(place), away = sum(X, truth, -1);
    const answers = SEEN.map((A) => inner(A, X)), told = SEEN.map((A) => inner(A, truth));
    return {
      X, place, answers, price, cost: price(place), risk: inner(away, away),
      empirical: answers.reduce((total, answer, k) => total + (answer - told[k]) ** 2, 0) / 2,
      best: [-second, 0], least: 1 / 2,  // the seen entry 1 is at most the nuclear norm
    };
  };

  const show = (stage) => {
    const now = { second: 0, angle: 0.5, t: 0.8 };
    let found, plane, section;
    const levels = Array.from({ length: 12 }, (_, k) => 0.52 * 1.22 ** k);

    stage.draw = (pen, width) => {
      found = compute(now);
      const wide = width >= 560, size = Math.min(wide ? 0.42 * width : width - 44, 300), left = wide ? 26 : (width - size) / 2;
      plane = pen.panel({ x: left, y: 26, w: size, h: size, xs: [-REACH, REACH], ys: [-REACH, REACH], xticks: [-1, 0, 1], yticks: [-1, 0, 1], xlabel: "change of x₂₂", grid: false });
      const place = ([a, b]) => [plane.X(a), plane.Y(b)], way = [Math.cos(now.angle), Math.sin(now.angle)];
      const far = REACH / Math.max(...way.map(Math.abs));
      pen.text(left + size / 2, 16, "what no measurement sees", "middle");
      pen.contours((a, b) => found.price([a, b]), plane, [-REACH, REACH], levels, "level");
      pen.text(left + 6, 42, "change of (x₁₂ − x₂₁)/√2", "tick halo");
      pen.line(...place(way.map((c) => -far * c)), ...place(way.map((c) => far * c)), "ink-line dashed thin");
      pen.star(...place(found.best), 9, "vermilion-area");
      pen.text(plane.X(found.best[0]), plane.Y(0) - 14, "least price", "middle vermilion-text halo");
      pen.circle(...place([0, 0]), 5, "blue-area");
      pen.text(plane.X(0) + 10, plane.Y(0) + 20, "truth", "blue-text strong halo");
      pen.text(plane.X(found.place[0]) + 12, plane.Y(found.place[1]) - 10, "X", "strong halo");

      const x = wide ? left + size + 56 : 40, y = wide ? 26 : size + 100, w = width - x - 12, h = wide ? size - 84 : 150;
      section = pen.panel({ x, y, w, h, xs: [-REACH, REACH], ys: [-0.1, HIGH], xticks: [-1, 0, 1], yticks: [0, 1, 2], xlabel: "distance t from the truth", grid: false });
      const steps = Array.from({ length: 121 }, (_, k) => REACH * (k / 60 - 1));
      const curve = (f, look) => pen.path(steps.filter((t) => f(t) <= HIGH).map((t) => [section.X(t), section.Y(f(t))]), look);
      pen.line(section.X(now.t), y, section.X(now.t), y + h, "ink-line thin");
      curve((t) => t * t, "blue");
      curve((t) => found.price(way.map((c) => t * c)), "vermilion");
      curve(() => 0, "ink-line");
      for (const [value, look] of [[found.cost, "vermilion"], [found.risk, "blue"]])
        if (value <= HIGH) pen.circle(section.X(now.t), section.Y(value), 5, `${look}-area`);
      const row = y + h + 60, third = w / 3;
      [["empirical risk", found.empirical, ""], ["true risk", found.risk, "blue-text"], ["price", found.cost, "vermilion-text"]].forEach(([words, value, look], k) => {
        pen.text(x + k * third, row, words, look);
        pen.text(x + k * third, row + 20, fixed(value), `strong ${look}`);
      });
      return wide ? Math.max(size + 66, row + 30) : row + 30;
    };

    const go = ([a, b]) => {
      now.t = Math.hypot(a, b);
      if (now.t > 1e-9) now.angle = Math.atan2(b, a);
    };
    stage.handle({
      label: "matrix X",
      where: () => [plane.X(found.place[0]), plane.Y(found.place[1])],
      drag: (x, y) => go([plane.X.inverse(x), plane.Y.inverse(y)]),
      press: (right, up) => go([found.place[0] + 0.05 * right, found.place[1] + 0.05 * up].map((c) => clamp(Math.round(20 * c) / 20, -REACH, REACH))),
      now: () => ({ value: found.place[0].toFixed(2), least: -REACH, most: REACH, words: found.X.flat().map((c) => fixed(c)).join(", ") }),
    });
    const walk = (t) => {
      const far = REACH / Math.max(Math.abs(Math.cos(now.angle)), Math.abs(Math.sin(now.angle)));
      now.t = clamp(t, -Math.min(far, REACH), Math.min(far, REACH));
    };
    stage.handle({
      label: "distance t from the truth",
      where: () => [section.X(clamp(now.t, -REACH, REACH)), section.Y(0)],
      drag: (x) => walk(section.X.inverse(x)),
      press: (right, up) => walk(Math.round(20 * (now.t + 0.05 * (right + up))) / 20),
      now: () => ({ value: now.t.toFixed(2), least: -REACH, most: REACH, words: fixed(now.t) }),
    });
    stage.slider({
      label: "rank of the truth", name: "second singular value of the truth", least: 0, most: 1, steps: 20,
      get: () => now.second, set: (second) => { now.second = Math.round(20 * second) / 20; }, words: (second) => (second ? `2 (σ₂ = ${fixed(second)})` : "1 (σ₂ = 0)"),
    });
    stage.says = () => {
      const X = found.X.map((row) => row.map((c) => fixed(c)).join(" ")).join("; ");
      return `X = (${X}) answers both measurements as the truth does: ${found.answers.map((c) => fixed(c)).join(" and ")}.`
        + (now.second ? " The least price is not at the truth." : " The least price is at the truth.");
    };
  };

  hand.picture("unseen", { title: "Matrices that two measurements do not tell apart, their risks and their price", compute, show });
})();
