// The map of regions.

// Rows on two directions that set regions apart; the first eight regions have colors of their own.
function mapChart(points, order, caption) {
  const rank = new Map(order.map((number, k) => [number, k]));
  const xs = points.map((p) => p.x),
    ys = points.map((p) => p.y);
  const paint = (k) => (k < 8 ? color(k) : "var(--strong)");
  const draw = (width) => {
    const height = Math.min(width * 0.72, 430),
      pad = 22;
    const x = linear(Math.min(...xs), Math.max(...xs), pad, width - pad),
      y = linear(Math.min(...ys), Math.max(...ys), height - pad, pad);
    const svg = canvas(width, height, `Map of ${points.length} rows in ${order.length} regions`);
    svg.append(
      sv("rect", {
        x: 0.5,
        y: 0.5,
        width: width - 1,
        height: height - 1,
        rx: 10,
        fill: "none",
        class: "axis",
      }),
    );
    points.forEach((p) => {
      const k = rank.get(p.region);
      svg.append(mark(MARKS[k % 8], x(p.x), y(p.y), 3.6, paint(k), p.right === false));
    });
    const spots = order.map((number) => {
      const mine = points.filter((p) => p.region === number),
        middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
      return mine.length
        ? { x: middle(mine.map((p) => x(p.x))), y: middle(mine.map((p) => y(p.y))) }
        : null;
    });
    apart(spots.filter(Boolean), 21, width, height);
    spots.forEach((spot, k) => {
      if (!spot) return;
      svg.append(
        sv("circle", {
          cx: spot.x,
          cy: spot.y,
          r: 10,
          fill: "var(--paper)",
          stroke: paint(k),
          "stroke-width": 2,
        }),
      );
      svg.append(
        sv(
          "text",
          { x: spot.x, y: spot.y + 4, "text-anchor": "middle", class: "strong" },
          String(k + 1),
        ),
      );
    });
    return svg;
  };
  return figure({
    draw,
    caption,
    attributes: { id: "map-chart" },
    table: {
      title: "The regions as a table",
      head: ["region", "rows on the map"],
      rows: order.map((n, k) => [String(k + 1), num(points.filter((p) => p.region === n).length)]),
    },
  });
}

// Moves spots until no two are nearer than `least`.
function apart(spots, least, width, height) {
  for (let turn = 0; turn < 60; turn++) {
    for (let a = 0; a < spots.length; a++) {
      for (let b = 0; b < a; b++) {
        const dx = spots[a].x - spots[b].x || 0.1,
          dy = spots[a].y - spots[b].y || 0.1,
          far = Math.hypot(dx, dy);
        if (far >= least) continue;
        const push = (least - far) / 2 / far;
        spots[a].x += dx * push;
        spots[a].y += dy * push;
        spots[b].x -= dx * push;
        spots[b].y -= dy * push;
      }
    }
    spots.forEach((one) => {
      one.x = Math.min(width - 12, Math.max(12, one.x));
      one.y = Math.min(height - 12, Math.max(12, one.y));
    });
  }
}
