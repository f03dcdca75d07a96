// Proposition 5.A in the plane: labeled points on a circle, the best map psi, and the lazy margin.
(() => {
  const { read, fixed } = hand;
  const TURN = 2 * Math.PI, PRECISION = 1e-10, REDUCTION = 0.1, CENTERED = 0.1, STEPS = 30;
  const at = (angle) => [Math.cos(angle), Math.sin(angle)];
  const dot = (p, q) => p.reduce((total, c, k) => total + c * q[k], 0);

  // min over weights alpha of sum_k |pushes_k alpha|, pushes (k, 2, n): the centers of barriers of
  // weight mu, which is lowered from one to the next, as lazy_margin.planar_margin of the library.
  const centrePath = (pushes) => {
    const k = pushes.length, n = pushes[0][0].length;
    const pull = (alpha) => pushes.map((rows) => rows.map((row) => dot(row, alpha)));
    const margins = (psi) => Array.from({ length: n }, (_, i) => pushes.reduce((m, rows, j) => m + rows[0][i] * psi[j][0] + rows[1][i] * psi[j][1], 0));
    const answer = (u, mu) => u.map((v) => v.map((c) => c / (mu + Math.hypot(mu, ...v))));

    // Newton's step, relative to alpha: a least-squares problem, solved by Householder's reflections
    const newton = (alpha, mu) => {
      const u = pull(alpha), rows = [], target = [];
      u.forEach((v, j) => {
        const length = Math.hypot(...v), R = Math.hypot(mu, length), along = v.map((c) => (length ? c / length : 0));
        const relative = pushes[j].map((row) => row.map((c, i) => c * alpha[i]));
        const part = alpha.map((_, i) => along[0] * relative[0][i] + along[1] * relative[1][i]);
        relative.forEach((row, d) => {
          rows.push(row.map((c, i) => (c - (1 - Math.sqrt(mu / R)) * along[d] * part[i]) / Math.sqrt(mu + R)));
          target.push(v[d] * Math.sqrt(R / mu / (mu + R)));
        });
      });
      alpha.forEach((_, i) => {
        rows.push(alpha.map((__, j) => (i === j ? Math.sqrt(mu) : 0)));
        target.push(-Math.sqrt(mu));
      });
      for (let c = 0; c < n; c++) {
        const mirror = rows.map((row, r) => (r < c ? 0 : row[c]));
        mirror[c] += Math.sign(mirror[c] || 1) * Math.hypot(...mirror);
        const square = dot(mirror, mirror);
        const reflect = (column) => 2 * dot(mirror, column) / square;
        for (let j = n - 1; j >= c; j--) {
          const factor = reflect(rows.map((row) => row[j]));
          rows.forEach((row, r) => { row[j] -= factor * mirror[r]; });
        }
        const factor = reflect(target);
        target.forEach((_, r) => { target[r] -= factor * mirror[r]; });
      }
      const sums = [];
      for (let i = 0; i < n; i++) sums[i] = (alpha[i] - sums.reduce((s, x, j) => s + rows[j][i] * x, 0)) / rows[i][i];
      const head = target.slice(0, n), share = dot(sums, head) / dot(sums, sums);
      const way = head.map((x, i) => x - share * sums[i]);  // so that the weights keep their sum
      const step = Array(n).fill(0);
      for (let i = n - 1; i >= 0; i--) step[i] = (-way[i] - dot(rows[i].slice(i + 1), step.slice(i + 1))) / rows[i][i];
      const change = pull(alpha.map((a, i) => a * step[i])), now = answer(u, mu);
      const psi = now.map((v, j) => {
        const R = Math.hypot(mu, ...u[j]), turned = dot(v, change[j]) / R;
        return v.map((c, d) => c + change[j][d] / (mu + R) - c * turned);
      });
      return { step, decrement: dot(way, way), psi };
    };
    const lengthOf = (alpha, mu, step, decrement) => {
      let length = Math.min(1, -0.99 / Math.min(...step, -0.1));
      for (let tries = 0; tries < 50; tries++, length /= 2) {
        const there = alpha.map((a, i) => a * (1 + length * step[i]));
        const slope = margins(answer(pull(there), mu)).map((m, i) => m - mu / there[i]);
        const mean = slope.reduce((a, b) => a + b, 0) / n;
        if (slope.reduce((a, s, i) => a + (s - mean) * alpha[i] * step[i], 0) <= 0.1 * decrement) break;
      }
      return length;
    };

    let alpha = Array(n).fill(1 / n), mu = 0.1;
    let best = { alpha, psi: pushes.map(() => [0, 0]), lower: 0, upper: Infinity };
    while (best.upper - best.lower > PRECISION && mu > 1e-3 * PRECISION / (n + k)) {
      let psi;
      for (let tries = 0; tries < STEPS; tries++) {
        const next = newton(alpha, mu), most = Math.max(1, ...next.psi.map((v) => Math.hypot(...v)));
        psi = next.psi.map((v) => v.map((c) => c / most));
        if (next.decrement <= CENTERED * mu) break;
        const length = lengthOf(alpha, mu, next.step, next.decrement);
        alpha = alpha.map((a, i) => a * (1 + length * next.step[i]));
        const total = alpha.reduce((a, b) => a + b, 0);
        alpha = alpha.map((a) => a / total);
      }
      const upper = pull(alpha).reduce((a, v) => a + Math.hypot(...v), 0), lower = Math.min(...margins(psi));
      if (upper < best.upper) best = { ...best, alpha, upper };
      if (lower > best.lower) best = { ...best, psi, lower };
      mu *= REDUCTION;
    }
    return { ...best, margins: margins(best.psi) };
  };

  // angles of the points, labels 1 and -1. On each arc between the lines z^T x = 0 the same points
  // are active, and psi is one vector. The margin lies between lower and upper. gains: what each arc
  // adds to the margin of each point, null where it does not see the point.
  const compute = ({ angles, labels }) => {
    const points = angles.map(at), within = (angle) => angle - TURN * Math.floor(angle / TURN);
    const rays = angles.flatMap((angle) => [within(angle + TURN / 4), within(angle - TURN / 4)]).sort((a, b) => a - b);
    const arcs = rays.map((from, k) => ({ from, to: k + 1 < rays.length ? rays[k + 1] : rays[0] + TURN })).filter(({ from, to }) => to - from > 1e-13);
    const pushes = arcs.map(({ from, to }) => {
      const middle = at((from + to) / 2), mass = (to - from) / TURN;
      return [0, 1].map((d) => points.map((x, i) => (dot(x, middle) > 0 ? mass * labels[i] * x[d] : 0)));
    });
    const best = centrePath(pushes), sees = arcs.map(({ from, to }) => points.map((x) => dot(x, at((from + to) / 2)) > 0));
    const gains = points.map((_, i) => arcs.map((__, k) => (sees[k][i] ? pushes[k][0][i] * best.psi[k][0] + pushes[k][1][i] * best.psi[k][1] : null)));
    return { arcs, gains, ...best };
  };

  const show = (stage) => {
    const now = { angles: [0, 40, 100, -170, -110].map((degrees) => degrees * TURN / 360), labels: [1, 1, -1, -1, 1] };
    const INNER = 0.72;
    let found, disc, chosen = 1;
    const sign = (label) => (label > 0 ? "+" : "−"), look = (i) => (now.labels[i] > 0 ? "green" : "vermilion");
    stage.draw = (pen, width) => {
      found = compute(now);
      const wide = width >= 560, size = Math.min(wide ? 0.5 * width : width, 300), unit = size / 2 / 1.47;
      const x = wide ? size / 2 : width / 2, y = 22 + size / 2, facing = now.angles[chosen];
      disc = { x, y, place: ([p, q]) => [x + unit * p, y - unit * q] };
      pen.text(x, 14, `shaded: the arrows ψ for point ${chosen + 1}`, "middle strong");
      pen.path([...Array(41)].map((_, k) => disc.place(at(facing + TURN * (k / 80 - 0.25)))), "faint-area", true);
      pen.circle(x, y, unit, "ink-line thin");
      for (const { from } of found.arcs) pen.line(x, y, ...disc.place(at(from).map((c) => 1.12 * c)), "axis dashed faint");
      found.arcs.forEach(({ from, to }, k) => {
        const base = at((from + to) / 2), tip = base.map((c, d) => c + 0.45 * found.psi[k][d]), gain = found.gains[chosen][k];
        pen.arrow(...disc.place(base), ...disc.place(tip), gain === null ? "ink-line thin faint" : gain < 0 ? "orange border" : "blue border", 7);
      });
      now.angles.forEach((angle, i) => pen.text(...disc.place(at(angle).map((c) => 0.52 * c)).map((c, d) => c + 5 * d), i + 1, "middle strong halo"));

      const left = wide ? size + 56 : 34, top = wide ? 76 : size + 96, h = wide ? size - 118 : 120, w = width - left - 82;
      const [good, bad] = now.labels[chosen] > 0 ? ["toward", "away from"] : ["away from", "toward"];
      pen.text(left - 24, top - 60, `point ${chosen + 1} is ${sign(now.labels[chosen])}: arrows ${good} it help`, "blue-text strong");
      pen.text(left - 24, top - 42, `arrows ${bad} it hurt`, "orange-text strong");
      const chart = pen.panel({ x: left, y: top, w, h, xs: [0, 5], ys: [0, 0.5], yticks: [0, 0.25, [0.5, "½"]] });
      pen.text(left - 24, top - 14, "margin: help minus hurt, on average");
      found.margins.forEach((margin, i) => {
        const middle = chart.X(i + 0.5), half = 0.28 * w / 5;
        pen.rect(middle - half, chart.Y(margin), 2 * half, chart.Y(0) - chart.Y(margin), `${look(i)}-area`);
        if (i === chosen) pen.rect(middle - half - 3, chart.Y(margin) - 3, 2 * half + 6, chart.Y(0) - chart.Y(margin) + 6, "hollow");
        pen.text(middle, top + h + 17, `${i + 1} ${sign(now.labels[i])}`, `middle ${look(i)}-text ${i === chosen ? "strong" : ""}`);
      });
      const level = chart.Y(found.upper);
      pen.line(left, level, left + w, level, "ink-line dashed");
      pen.text(left + w + 5, level - 2, "least: γ", "strong");
      pen.text(left + w + 5, level + 14, `= ${fixed(found.upper, 4)}`, "strong");
      return wide ? size + 22 : top + h + 24;
    };
    const turn = (i, angle) => { now.angles[i] = angle - TURN * Math.round(angle / TURN); };
    now.angles.forEach((_, i) => {
      const handle = stage.handle({
        label: `point ${i + 1}`,
        where: () => {
          for (const color of ["green", "vermilion"]) handle?.classList.toggle(color, look(i) === color);
          if (handle) handle.lastChild.textContent = sign(now.labels[i]);
          return disc.place(at(now.angles[i]).map((c) => INNER * c));
        },
        drag: (x, y) => turn(i, Math.atan2(disc.y - y, x - disc.x)),
        press: (right, up) => turn(i, now.angles[i] + (up - right) * TURN / 180),
        act: () => { now.labels[i] = -now.labels[i]; },
        now: () => ({
          value: Math.round(now.angles[i] * 360 / TURN), least: -180, most: 180,
          words: `${read(now.angles[i] * 360 / TURN)} degrees, label ${now.labels[i] > 0 ? "plus" : "minus"}, margin ${fixed(found.margins[i], 4)}; Enter changes the label`,
        }),
      });
      handle.insertAdjacentHTML("beforeend", '<text class="middle" y="5.5"></text>');
      handle.addEventListener("focus", () => { chosen = i; stage.change(); });
    });
    stage.says = () => {
      if (found.upper < 1e-9) return "Lazy margin γ = 0: no wide, lazy network tells these points apart.";
      const list = (points) => `point${points.length > 1 ? "s" : ""} ${points.join(", ")}`;
      const [tight, more] = [true, false].map((least) => found.margins.flatMap((m, i) => (m < found.lower + 1e-6 === least ? [i + 1] : [])));
      return `The best arrows give ${list(tight)} the margin γ = ${fixed(found.upper, 4)}${more.length ? `, and more to ${list(more)}` : ""}.`;
    };
  };

  hand.picture("labels", { title: "Labeled points on a circle, the best map of Assumption 2, and what each point gets", compute, show });
})();
