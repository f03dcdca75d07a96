// Assumption 1: three points on a circle, the share that each direction keeps, and the least, beta.
(() => {
  const { read, fixed, clamp } = hand;
  const TURN = 2 * Math.PI;
  const at = (angle) => [Math.cos(angle), Math.sin(angle)];
  const dot = (p, q) => p[0] * q[0] + p[1] * q[1];

  // The eigenvectors of a symmetric matrix [[a, b], [b, c]], and its eigenvalues.
  const eigen = (a, b, c) => {
    const angle = Math.atan2(2 * b, a - c) / 2, middle = (a + c) / 2, half = Math.hypot((a - c) / 2, b);
    return { vectors: [at(angle), at(angle + Math.PI / 2)], values: [middle + half, middle - half] };
  };
  const moment = (points, masses, kept) => points.reduce(([a, b, c], x, k) => {
    const mass = kept(x) ? masses[k] : 0;
    return [a + mass * x[0] * x[0], b + mass * x[0] * x[1], c + mass * x[1] * x[1]];
  }, [0, 0, 0]);

  // angles of the three points; mass: of the first, the others share the rest. parts(angle): of the
  // second moment in that direction, by points; share(angle): the parts of the points that the
  // neuron of that direction sees; beta the least share, and the direction that has it.
  const compute = ({ angles, mass }) => {
    const atoms = angles.map(at), masses = [mass, (1 - mass) / 2, (1 - mass) / 2];
    const { vectors, values } = eigen(...moment(atoms, masses, () => true));
    const inPlane = values[1] > 1e-12;
    // in coordinates in which the second moments are 1
    const white = atoms.map((x) => vectors.map((v, i) => (i && !inPlane ? 0 : dot(v, x) / Math.sqrt(values[i]))));
    const kept = (v) => white.reduce((a, x, k) => a + masses[k] * Math.max(dot(v, x), 0) ** 2, 0);
    const back = (v) => [0, 1].map((i) => vectors.reduce((a, e, j) => a + (j && !inPlane ? 0 : v[j] * e[i] / Math.sqrt(values[j])), 0));
    const candidates = [];
    if (inPlane) {
      const rays = white.flatMap(([p, q]) => [Math.atan2(p, -q), Math.atan2(-p, q)]).sort((s, t) => s - t);
      rays.forEach((from, k) => {
        const middle = at((from + (k + 1 < rays.length ? rays[k + 1] : rays[0] + TURN)) / 2);
        for (const v of eigen(...moment(white, masses, (x) => dot(middle, x) > 0)).vectors) candidates.push(v, v.map((c) => -c));
        candidates.push(at(from));
      });
    } else candidates.push([1, 0], [-1, 0]);
    const best = candidates.reduce((v, w) => (kept(w) < kept(v) ? w : v));
    const direction = back(best), length = Math.hypot(...direction);
    const sees = (angle, k) => dot(at(angle), atoms[k]) > 1e-9;
    const parts = (angle) => {
      const squares = atoms.map((x, k) => masses[k] * dot(at(angle), x) ** 2), all = squares.reduce((a, b) => a + b, 0);
      return all > 1e-14 ? squares.map((s) => s / all) : null;
    };
    const share = (angle) => parts(angle)?.reduce((a, part, k) => a + (sees(angle, k) ? part : 0), 0) ?? null;
    return { beta: kept(best), direction: direction.map((c) => c / length), masses, sees, parts, share };
  };

  const MASS = [0.02, 0.9];

  const show = (stage) => {
    const now = { angles: [0, 0, 0], mass: 0.34, free: false, neuron: null };  // null: the worst one
    const BORDER = 1.22;
    let found, disc, chart, angle;
    const round = (turned) => turned - TURN * Math.round(turned / TURN);
    const percent = (share) => `${fixed(100 * share, 1)}%`;
    stage.draw = (pen, width) => {
      found = compute(now);
      angle = now.neuron ?? Math.atan2(found.direction[1], found.direction[0]);
      const wide = width >= 560, size = Math.min(wide ? width / 2 - 30 : width - 40, 290), unit = size / 2 / 1.3;
      const [x, y] = [wide ? size / 2 : width / 2, 22 + size / 2], v = at(angle), side = at(angle + TURN / 4);
      const share = found.share(angle), parts = found.parts(angle) ?? [0, 0, 0];
      disc = { x, y, place: ([p, q]) => [x + unit * p, y - unit * q] };
      pen.text(x, 14, "the neuron sees the shaded half", "middle vermilion-text strong");
      pen.path([...Array(41)].map((_, k) => disc.place(at(angle - TURN / 4 + TURN * k / 80))), "half", true);
      pen.circle(x, y, unit, "ink-line thin");
      pen.path([BORDER, -BORDER].map((c) => disc.place(side.map((s) => c * s))), "ink-line dashed thin");
      pen.arrow(x, y, ...disc.place(v.map((c) => BORDER * c)), "vermilion", 0);
      now.angles.forEach((turned, k) => {
        const point = at(turned), seen = found.sees(angle, k), r = 34 * Math.sqrt(found.masses[k]);
        pen.line(...disc.place(point), ...disc.place(side.map((s) => s * dot(side, point))), seen ? "orange border" : "ink-line dotted faint");
        pen.circle(...disc.place(point), r, seen ? "orange-area" : "paper-area ink-line lost");
        pen.text(x + (unit - r - 11) * point[0], y - (unit - r - 11) * point[1] + 5, k + 1, "middle strong halo");
      });

      const left = wide ? size + 60 : 30, w = width - left - 12, top = wide ? 52 : size + 74;
      pen.text(left, top - 26, "mass × squared distance from the dashed line");
      let from = left;
      for (const seen of [true, false]) parts.forEach((part, k) => {
        if (found.sees(angle, k) !== seen) return;
        pen.rect(from, top, w * part - 1, 22, seen ? "orange-area" : "hollow lost");
        if (w * part > 14) pen.text(from + w * part / 2, top + 16, k + 1, `middle strong ${seen ? "on-orange" : ""}`);
        from += w * part;
      });
      pen.text(left, top - 7, share === null ? "all distances are 0" : `${percent(share)} seen`, "orange-text strong");
      if (share !== null) pen.text(left + w, top - 7, `${percent(1 - share)} not seen`, "end");

      const h = wide ? size - 132 : 120;
      chart = pen.panel({
        x: left, y: top + 66, w, h, xs: [0, TURN], ys: [0, 1], yticks: [0, [0.5, "½"], 1],
        xticks: ["→", "↑", "←", "↓", "→"].map((words, k) => [k * TURN / 4, words]), xlabel: "direction of the neuron",
      });
      pen.text(left, top + 54, "share seen, by direction", "blue-text");
      const curve = [...Array(361)].map((_, k) => [TURN * k / 360, found.share(TURN * k / 360)]);
      pen.path(curve.filter(([, s]) => s !== null).map(([a, s]) => [chart.X(a), chart.Y(s)]), "blue");
      pen.line(left, chart.Y(found.beta), left + w, chart.Y(found.beta), "vermilion dashed");
      pen.text(left + w, chart.Y(found.beta) + (found.beta > 0.15 ? 15 : -6), `least: β = ${fixed(found.beta, 3)}`, "end vermilion-text halo");
      return top + 66 + h + 38;
    };
    const BALANCED = 0.48;  // the law of Proposition 2, of mean 0, needs delta below 1/2
    const balance = () => {
      now.free = false;
      now.mass = Math.min(now.mass, BALANCED);
      const turned = Math.acos(-now.mass / (1 - now.mass));
      now.angles = [0, turned, -turned];
    };
    balance();
    const degrees = (turned) => Math.round(turned * 360 / TURN);
    const circular = (label, look, get, set, where, words, drag = (x, y) => Math.atan2(disc.y - y, x - disc.x), way = -1) => stage.handle({
      label, look, where, drag: (x, y) => set(round(drag(x, y))),
      press: (right, up) => set(round(get() + (up + way * right) * Math.PI / 90)),
      now: () => ({ value: degrees(round(get())), least: -180, most: 180, words: `${read(degrees(round(get())))} degrees, ${words()}` }),
    });
    now.angles.forEach((_, k) => circular(
      `point ${k + 1}`, "", () => now.angles[k], (to) => { now.angles[k] = to; now.free = true; }, () => disc.place(at(now.angles[k])),
      () => `mass ${fixed(found.masses[k])}, ${found.sees(angle, k) ? "seen" : "not seen"}`,
    ));
    const neuron = ["vermilion", () => now.neuron ?? angle, (to) => { now.neuron = to; }];
    const keeps = () => (found.share(angle) === null ? "all distances are 0" : `sees ${percent(found.share(angle))}`);
    circular("direction of the neuron", ...neuron, () => disc.place(at(angle).map((c) => BORDER * c)), keeps);
    const along = () => (angle % TURN + TURN) % TURN;
    const onCurve = () => [chart.X(along()), chart.Y(found.share(angle) ?? 0.5)];
    circular("direction, on the curve", ...neuron, onCurve, keeps, (x) => Math.min(chart.X.inverse(x), TURN - 1e-3), 1);
    stage.slider({
      label: "mass δ of point 1", least: MASS[0], most: MASS[1], steps: 88, get: () => now.mass,
      set: (mass) => { now.mass = mass; now.free ||= mass > BALANCED; if (!now.free) balance(); }, words: (mass) => fixed(mass),
    });
    stage.button("Worst direction", () => { now.neuron = null; });
    stage.button("Make the mean 0", balance);
    stage.says = () => {
      const share = found.share(angle), seen = [1, 2, 3].filter((k) => found.sees(angle, k - 1));
      if (share === null) return "All points lie on the dashed line: this direction has no second moment.";
      return `The neuron sees ${seen.length ? `point${seen.length > 1 ? "s" : ""} ${seen.join(", ")}` : "no point"}, with ${percent(share)} of the second moment`
        + (share < found.beta + 1e-9 ? "; no direction sees less." : `; the worst direction sees ${percent(found.beta)}.`);
    };
  };

  hand.picture("retentive", { title: "Three points on a circle, the half that a neuron sees, and the share of each direction", compute, show });
})();
