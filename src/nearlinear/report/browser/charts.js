// Pictures: each takes a part of the document and gives a figure.

// Horizontal bars from a common zero; entries are {name, value, text}.
function barsChart(entries, label, { signed = false, attributes, most, table = true } = {}) {
  const draw = (width) => {
    const row = 25,
      height = row * entries.length + 4;
    const nameWidth = Math.min(
        width * (signed ? 0.36 : 0.42),
        Math.max(...entries.map((e) => [...e.name].length)) * 6.9 + 10,
      ),
      room = signed ? 10 : 62;
    const top = most || Math.max(...entries.map((e) => Math.abs(e.value)), 1e-300);
    const lowest = signed ? Math.min(0, ...entries.map((e) => e.value)) : 0,
      highest = signed ? Math.max(0, ...entries.map((e) => e.value)) : top;
    const textRoom = signed ? 7 * Math.max(...entries.map((e) => e.text.length)) + 8 : 0;
    const x = linear(
      lowest,
      highest === lowest ? lowest + 1 : highest,
      nameWidth + 8 + (lowest < 0 ? textRoom : 0),
      width - room - (signed && highest > 0 ? textRoom - 10 : 0),
    );
    const svg = canvas(width, height, label);
    entries.forEach((e, k) => {
      const y = row * k + 4,
        a = x(Math.min(0, e.value)),
        b = x(Math.max(0, e.value));
      svg.append(
        sv(
          "text",
          { x: nameWidth, y: y + 14, "text-anchor": "end", class: e.strong ? "strong" : null },
          cut(e.name, nameWidth),
        ),
      );
      svg.append(
        sv("rect", {
          class: signed && e.value < 0 ? "against" : "bar",
          x: a,
          y: y + 3,
          width: Math.max(b - a, 1),
          height: 14,
          rx: 2,
          style: null,
        }),
      );
      const left = signed && e.value < 0;
      svg.append(
        sv(
          "text",
          { x: left ? a - 6 : b + 6, y: y + 14, "text-anchor": left ? "end" : "start" },
          e.text,
        ),
      );
    });
    svg.append(sv("line", { class: "zero", x1: x(0), x2: x(0), y1: 2, y2: height }));
    return svg;
  };
  return figure({
    draw,
    attributes,
    table: table && { head: ["name", "value"], rows: entries.map((e) => [e.name, e.text]) },
  });
}

function calibrationChart(found) {
  const what = found.of === null ? "its label" : String(found.of);
  const draw = (width) => {
    const side = Math.min(width, 420),
      height = side * 0.86,
      left = 50,
      bottom = 42,
      top = 24;
    const x = linear(0, 1, left, side - 8),
      y = linear(0, 1, height - bottom, top),
      p = (t) => `${100 * t} %`;
    const svg = canvas(
      side,
      height,
      `Calibration: said and come true, ${found.bins.length} groups of rows, mean gap ${percent(found.gap)}`,
    );
    svg.append(
      ...axes({
        x,
        y,
        xTicks: [0, 0.25, 0.5, 0.75, 1],
        yTicks: [0, 0.25, 0.5, 0.75, 1],
        width: side,
        height,
        left,
        bottom,
        xText: p,
        yText: p,
        xName: `said: probability of ${what}`,
        yName: "came true",
      })
        .flat(3)
        .filter(Boolean),
    );
    svg.append(sv("line", { class: "guide", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
    svg.append(
      sv("path", {
        class: "curve",
        stroke: "var(--c0)",
        d: found.bins.map((b, k) => `${k ? "L" : "M"}${x(b.said)} ${y(b.came_true)}`).join(""),
      }),
    );
    found.bins.forEach((b) => {
      svg.append(
        sv("line", {
          x1: x(b.said),
          x2: x(b.said),
          y1: y(Math.max(0, b.came_true - b.error)),
          y2: y(Math.min(1, b.came_true + b.error)),
          stroke: "var(--c0)",
          opacity: 0.5,
        }),
      );
      svg.append(mark("circle", x(b.said), y(b.came_true), 4.5, "var(--c0)"));
    });
    return svg;
  };
  return figure({
    draw,
    table: {
      head: ["said", "came true", "rows"],
      rows: found.bins.map((b) => [percent(b.said), percent(b.came_true), num(b.rows)]),
    },
  });
}

function scatterChart(measures, unit) {
  const values = measures.points.flat(),
    low = Math.min(...values),
    high = Math.max(...values);
  const draw = (width) => {
    const height = Math.min(width * 0.82, 380),
      left = 58,
      bottom = 42,
      top = 24;
    const x = linear(low, high, left + 4, width - 8),
      y = linear(low, high, height - bottom - 4, top);
    const svg = canvas(
      width,
      height,
      `Predicted against true ${unit}, ${measures.points.length} rows, R² ${num(measures.r2, 3)}`,
    );
    svg.append(
      ...axes({
        x,
        y,
        xTicks: ticks(low, high, width < 340 ? 3 : 5),
        yTicks: ticks(low, high, 5),
        width,
        height,
        left,
        bottom,
        xName: `true ${unit}`,
        yName: "predicted",
      })
        .flat(3)
        .filter(Boolean),
    );
    svg.append(sv("line", { class: "guide", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
    measures.points.forEach(([a, b]) =>
      svg.append(
        sv("circle", {
          cx: x(a).toFixed(1),
          cy: y(b).toFixed(1),
          r: 3.2,
          fill: "var(--c0)",
          opacity: 0.6,
        }),
      ),
    );
    return svg;
  };
  return figure({
    draw,
    table: {
      title: "Some of the rows as a table",
      head: ["true", "predicted"],
      rows: measures.points
        .filter((_, k) => k % Math.ceil(measures.points.length / 25) === 0)
        .map(([a, b]) => [num(a), num(b)]),
    },
  });
}

function histogramChart({ edges, counts }, name) {
  const draw = (width) => {
    const height = Math.min(width * 0.82, 300),
      left = 40,
      bottom = 42,
      top = 24,
      most = Math.max(...counts);
    const x = linear(edges[0], edges[edges.length - 1], left, width - 4),
      y = linear(0, most, height - bottom, top);
    const svg = canvas(width, height, `Histogram of ${name}`);
    svg.append(
      ...axes({
        x,
        y,
        xTicks: ticks(edges[0], edges[edges.length - 1], 4),
        yTicks: ticks(0, most, 4),
        width,
        height,
        left,
        bottom,
        xName: name,
        yName: "rows",
      })
        .flat(3)
        .filter(Boolean),
    );
    counts.forEach((n, k) =>
      svg.append(
        sv("rect", {
          class: "bar soft",
          x: x(edges[k]) + 0.7,
          width: Math.max(1, x(edges[k + 1]) - x(edges[k]) - 1.4),
          y: y(n),
          height: height - bottom - y(n),
        }),
      ),
    );
    svg.append(sv("line", { class: "guide", x1: x(0), x2: x(0), y1: top, y2: height - bottom }));
    return svg;
  };
  return figure({
    draw,
    table: {
      head: ["from", "to", "rows"],
      rows: counts.map((n, k) => [num(edges[k], 3), num(edges[k + 1], 3), num(n)]),
    },
  });
}
