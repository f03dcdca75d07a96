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

  // angles of the three points; mass: of the first, the others share the rest. share(angle) is what
  // the neuron of that direction keeps; beta the least share, and the direction that has it.
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
    const share = (angle) => {
      const v = at(angle), seen = atoms.map((x) => dot(v, x));
      const all = seen.reduce((a, s, k) => a + masses[k] * s * s, 0);
      return all > 1e-14 ? seen.reduce((a, s, k) => a + masses[k] * Math.max(s, 0) ** 2, 0) / all : null;
    };
    return { beta: kept(best), direction: direction.map((c) => c / length), masses, share };
  };

  const MASS = [0.02, 0.9];

  const show = (stage) => {
    const now = { angles: [0, 0, 0], mass: 0.34, free: false };
    let found, disc;
    const round = (angle) => angle - TURN * Math.round(angle / TURN);
    stage.draw = (pen, width) => {
      found = compute(now);
      const wide = width >= 560, size = Math.min(wide ? width / 2 - 20 : width - 20, 300);
      const circle = (left, top, reach) => {
        const unit = size / 2 / reach, x = left + size / 2, y = top + size / 2;
        return { place: ([p, q]) => [x + unit * p, y - unit * q], unit, x, y };
      };
      disc = circle(wide ? (width / 2 - size) / 2 : (width - size) / 2, 26, 1.3);
      pen.circle(disc.x, disc.y, disc.unit, "ink-line thin");
      const worst = found.direction.map((c) => 1.22 * c);
      pen.path([[worst[1], -worst[0]], [-worst[1], worst[0]]].map(disc.place), "ink-line dashed thin");
      const edge = Math.atan2(worst[1], worst[0]);
      pen.path([...Array(41)].map((_, k) => disc.place(at(edge - Math.PI / 2 + Math.PI * k / 40))), "half", true);
      pen.arrow(disc.x, disc.y, ...disc.place(worst), "vermilion");
      now.angles.forEach((angle, k) => pen.circle(...disc.place(at(angle)), 34 * Math.sqrt(found.masses[k]), "orange-area"));
      pen.text(disc.x, 14, "three points, and the worst neuron", "middle");

      const polar = circle(wide ? width / 2 + (width / 2 - size) / 2 : (width - size) / 2, wide ? 26 : size + 66, 1.12);
      pen.text(polar.x, polar.y - size / 2 - 12, "share that each direction keeps", "middle");
      for (const r of [0.25, 0.5, 0.75, 1]) {
        pen.circle(polar.x, polar.y, r * polar.unit, r === 0.5 ? "ink-line dashed thin" : "grid-circle");
        pen.text(polar.x + 4, polar.y - r * polar.unit - 3, r === 0.5 ? "½" : r, "tick");
      }
      const curve = [];
      for (let k = 0; k < 360; k++) {
        const angle = TURN * k / 360, share = found.share(angle);
        if (share !== null) curve.push(polar.place(at(angle).map((c) => share * c)));
      }
      pen.path(curve, "blue", true);
      pen.arrow(polar.x, polar.y, ...polar.place(found.direction.map((c) => found.beta * c)), "vermilion", 5);
      pen.circle(...polar.place(found.direction.map((c) => found.beta * c)), 5.5, "vermilion-area");
      return (wide ? 26 : size + 66) + size + 6;
    };
    const turn = (k, angle) => { now.angles[k] = round(angle); now.free = true; };
    const BALANCED = 0.48;  // the law of Proposition 2, of mean 0, needs delta below 1/2
    const balance = () => {
      now.free = false;
      now.mass = Math.min(now.mass, BALANCED);
      const angle = Math.acos(-now.mass / (1 - now.mass));
      now.angles = [0, angle, -angle];
    };
    balance();
    now.angles.forEach((_, k) => stage.handle({
      label: `point ${k + 1}`,
      where: () => disc.place(at(now.angles[k])),
      drag: (x, y) => turn(k, Math.atan2(disc.y - y, x - disc.x)),
      press: (right, up) => turn(k, now.angles[k] + (up - right) * Math.PI / 90),
      now: () => ({ value: Math.round(now.angles[k] * 360 / TURN), least: -180, most: 180, words: `${read(now.angles[k] * 360 / TURN)} degrees, mass ${fixed(found.masses[k])}` }),
    }));
    stage.slider({
      label: "mass δ", name: "mass δ of point 1", least: MASS[0], most: MASS[1], steps: 88, get: () => now.mass,
      set: (mass) => { now.mass = mass; now.free ||= mass > BALANCED; if (!now.free) balance(); }, words: (mass) => fixed(mass),
    });
    stage.button("Mean 0", balance);
    stage.says = () => `Retentiveness β = ${fixed(found.beta, 3)}: the neuron that keeps least keeps ${fixed(100 * found.beta, 1)} % of its second moment.`;
  };

  hand.picture("retentive", { title: "Three points on a circle and their retentiveness", compute, show });
})();
