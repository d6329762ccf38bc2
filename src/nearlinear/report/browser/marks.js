// Marks of points and lines, and their legends.

function mark(kind, x, y, r, color, hollow) {
  const paint = hollow
    ? { fill: "var(--paper)", stroke: color, "stroke-width": 1.8 }
    : { fill: color };
  if (kind === "circle") return sv("circle", { cx: x, cy: y, r, ...paint });
  const poly = (points) =>
    sv("polygon", {
      points: points.map(([a, b]) => `${x + r * a},${y + r * b}`).join(" "),
      ...paint,
    });
  if (kind === "triangle")
    return poly([
      [0, -1.15],
      [1.05, 0.8],
      [-1.05, 0.8],
    ]);
  if (kind === "turned")
    return poly([
      [0, 1.15],
      [1.05, -0.8],
      [-1.05, -0.8],
    ]);
  if (kind === "square")
    return poly([
      [-0.9, -0.9],
      [0.9, -0.9],
      [0.9, 0.9],
      [-0.9, 0.9],
    ]);
  if (kind === "diamond")
    return poly([
      [0, -1.25],
      [1.1, 0],
      [0, 1.25],
      [-1.1, 0],
    ]);
  if (kind === "plus")
    return poly([
      [-0.35, -1.1],
      [0.35, -1.1],
      [0.35, -0.35],
      [1.1, -0.35],
      [1.1, 0.35],
      [0.35, 0.35],
      [0.35, 1.1],
      [-0.35, 1.1],
      [-0.35, 0.35],
      [-1.1, 0.35],
      [-1.1, -0.35],
      [-0.35, -0.35],
    ]);
  if (kind === "cross")
    return poly([
      [0, -0.5],
      [0.6, -1.1],
      [1.1, -0.6],
      [0.5, 0],
      [1.1, 0.6],
      [0.6, 1.1],
      [0, 0.5],
      [-0.6, 1.1],
      [-1.1, 0.6],
      [-0.5, 0],
      [-1.1, -0.6],
      [-0.6, -1.1],
    ]);
  return poly([
    [0, -1.3],
    [0.35, -0.4],
    [1.25, -0.4],
    [0.55, 0.2],
    [0.8, 1.1],
    [0, 0.55],
    [-0.8, 1.1],
    [-0.55, 0.2],
    [-1.25, -0.4],
    [-0.35, -0.4],
  ]);
}

function color(k) {
  return `var(--c${k % 8})`;
}

const DASHES = ["none", "7 4", "2 4", "9 3 2 3", "4 3", "12 4"];

// Entries with a dash are of lines.
function legendOf(entries) {
  return el(
    "ul",
    { class: "legend" },
    entries.map(({ name, kind, paint, hollow, dash }) => {
      const width = dash ? 34 : 12;
      return el(
        "li",
        null,
        sv(
          "svg",
          { viewBox: `0 0 ${width} 12`, width, height: 12, "aria-hidden": "true" },
          dash &&
            sv("line", {
              x1: 1,
              x2: width - 1,
              y1: 6,
              y2: 6,
              stroke: paint,
              "stroke-width": 2.2,
              "stroke-dasharray": dash,
            }),
          mark(kind, width / 2, 6, 4.6, paint, hollow),
        ),
        name,
      );
    }),
  );
}
