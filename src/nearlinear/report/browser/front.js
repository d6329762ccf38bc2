// The front of the search, and alternatives, as points to click.

// Score against time of all models; `choose(point)` is told which one was clicked.
function frontChart(front, choose) {
  const own = front.points.map((p) => ({ ...p, peer: false }));
  const all = own.concat(front.peers.map((p) => ({ ...p, peer: true })));
  const label = (p) =>
    `${p.name || p.model}: ${percent(p.score)}, ${micro(p.us)} a row${p.is_chosen ? ", chosen" : ""}${p.peer ? (p.ours ? ", on test rows" : ", an alternative, on test rows") : ""}`;
  const draw = (width) => {
    const height = Math.max(280, Math.min(380, width * 0.62)),
      left = 52,
      bottom = 42,
      top = 26;
    const us = all.map((p) => Math.max(p.us, 1e-4)),
      scores = all.map((p) => p.score);
    const low = Math.min(...us) / 1.6,
      high = Math.max(...us) * 1.6;
    // a few that are far below stand at the bottom, with an arrow
    const ranked = [...scores].sort((a, b) => b - a),
      best = ranked[0],
      half = ranked[Math.floor(ranked.length / 2)];
    const lowest = Math.max(ranked[ranked.length - 1], best - 3 * Math.max(best - half, 0.005));
    const span = best - lowest || 0.02,
      from = lowest - 0.1 * span,
      to = best + 0.14 * span,
      isBelow = (p) => p.score < lowest;
    const lx = linear(Math.log10(low), Math.log10(high), left + 6, width - 10),
      x = (v) => lx(Math.log10(Math.max(v, 1e-4)));
    const y = linear(from, to, height - bottom, top);
    const svg = canvas(
      width,
      height,
      `${front.score} against microseconds a row, ${all.length} models`,
      "group",
    );
    svg.append(
      ...axes({
        x,
        y,
        xTicks: logTicks(low, high),
        yTicks: ticks(from, to, 5),
        width,
        height,
        left,
        bottom,
        xName: "time of a prediction, µs a row (log scale)",
        yName: front.peers.length ? "score" : front.score,
        yText: (t) => `${num(100 * t, 3)} %`,
      })
        .flat(3)
        .filter(Boolean),
    );
    const line = own.filter((p) => p.on_front).sort((a, b) => a.us - b.us);
    if (line.length > 1) {
      const path = line
        .map((p, k) => (k ? `H${x(p.us)} V${y(p.score)}` : `M${x(p.us)} ${y(p.score)}`))
        .join(" ");
      svg.append(sv("path", { d: path, class: "guide" }));
    }
    const taken = all.map((p) => ({
      x: x(p.us) - 8,
      y: y(isBelow(p) ? from + 0.05 * span : p.score) - 8,
      w: 16,
      h: 16,
    }));
    all.forEach((p) => {
      const paint = p.is_chosen || p.ours ? "var(--c1)" : p.peer ? "var(--strong)" : "var(--c0)";
      const cx = x(p.us),
        cy = y(isBelow(p) ? from + 0.05 * span : p.score);
      const text = cut(
        (p.name || p.model) + (isBelow(p) ? ` ↓ ${num(100 * p.score, 3)} %` : ""),
        Math.min(250, width / 2.3),
      );
      const w = text.length * 6.6,
        side = p.is_chosen ? 18 : 10,
        spots = [
          [side, 4, "start"],
          [-side, 4, "end"],
          [0, -side - 3, "middle"],
          [0, side + 11, "middle"],
          [10, -9, "start"],
          [-10, -9, "end"],
          [10, 17, "start"],
          [-10, 17, "end"],
          [0, -27, "middle"],
          [0, 35, "middle"],
        ];
      const box = ([dx, dy, anchor]) => ({
        x: cx + dx - (anchor === "end" ? w : anchor === "middle" ? w / 2 : 0),
        y: cy + dy - 11,
        w,
        h: 14,
      });
      const cost = (spot) => {
        const b = box(spot);
        return (
          taken.reduce(
            (s, t) =>
              s +
              Math.max(0, Math.min(b.x + b.w, t.x + t.w) - Math.max(b.x, t.x)) *
                Math.max(0, Math.min(b.y + b.h, t.y + t.h) - Math.max(b.y, t.y)),
            0,
          ) +
          40 *
            (Math.max(0, left - b.x) +
              Math.max(0, b.x + b.w - width) +
              Math.max(0, top - 8 - b.y) +
              Math.max(0, b.y + b.h - (height - bottom)))
        );
      };
      const spot = spots.reduce((best, one) => (cost(one) < cost(best) - 1e-9 ? one : best));
      taken.push(box(spot));
      const node = sv(
        "g",
        {
          class: "point",
          tabindex: "0",
          role: "button",
          "aria-label": label(p),
          "aria-pressed": String(p.is_chosen === true),
        },
        sv("title", null, label(p)),
        sv("circle", { class: "halo", cx, cy, r: p.is_chosen ? 13 : 11 }),
        p.error &&
          sv("line", {
            class: "error",
            x1: cx,
            x2: cx,
            y1: y(Math.max(from, p.score - p.error)),
            y2: y(Math.min(to, p.score + p.error)),
            stroke: paint,
            "stroke-width": 1.6,
          }),
        mark(
          p.peer ? "square" : "circle",
          cx,
          cy,
          p.is_chosen ? 7.5 : 5.5,
          paint,
          !p.peer && !p.on_front && !p.is_chosen,
        ),
      );
      // beside the button, whose name is its title
      const name = sv(
        "text",
        {
          x: cx + spot[0],
          y: cy + spot[1],
          "text-anchor": spot[2],
          class: p.is_chosen ? "strong over" : "over",
          "aria-hidden": "true",
        },
        text,
      );
      const pick = () => {
        svg
          .querySelectorAll(".point")
          .forEach((one) => one.setAttribute("aria-pressed", String(one === node)));
        choose(p);
      };
      node.addEventListener("click", pick);
      name.addEventListener("click", pick);
      node.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          pick();
        }
      });
      svg.append(node, name);
    });
    return svg;
  };
  const kinds = [
    { name: "chosen", kind: "circle", paint: "var(--c1)" },
    { name: "nothing is both better and quicker", kind: "circle", paint: "var(--c0)" },
  ];
  if (own.some((p) => !p.on_front && !p.is_chosen))
    kinds.push({
      name: "others that were tried",
      kind: "circle",
      paint: "var(--c0)",
      hollow: true,
    });
  if (front.peers.length)
    kinds.push(
      { name: "alternatives, on test rows", kind: "square", paint: "var(--strong)" },
      { name: "ours on these", kind: "square", paint: "var(--c1)" },
    );
  return figure({
    draw,
    legend: legendOf(kinds),
    attributes: { id: "front-chart" },
    table: {
      head: ["model", "score", "± error", "µs a row", "× linear", "bytes"],
      rows: all.map((p) => [
        (p.name || p.model) + (p.is_chosen ? " (chosen)" : ""),
        percent(p.score, 2),
        p.error ? percent(p.error, 2) : "–",
        num(p.us, 3),
        num(p.times_linear, 3),
        bytes(p.bytes),
      ]),
    },
  });
}
