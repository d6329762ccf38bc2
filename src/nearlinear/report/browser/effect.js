// Curves of single columns.

// What the model says along one column.
function effectChart(effect, unit, caption) {
  const isLine = effect.form === "numbers";
  const many = effect.curves.length > 1;
  const says = effect.says === "probability" ? percent : num;
  const label = `Effect of ${effect.name} on ${unit}`;
  const draw = (width) => {
    const height = 210,
      left = 50,
      bottom = isLine ? 36 : 36,
      right = many && isLine ? 6 : 6,
      top = 22;
    const ys = effect.curves.flatMap((c) => c.y);
    let low = Math.min(...ys),
      high = Math.max(...ys);
    if (effect.says === "probability") {
      low = 0;
      high = 1;
    }
    const pad = effect.says === "probability" ? 0.02 : 0.06 * (high - low || 1);
    const y = linear(low - pad, high + pad, height - bottom, top);
    const svg = canvas(width, height, label);
    const yTicks = effect.says === "probability" ? [0, 0.5, 1] : ticks(low, high, 4);
    const yText = (t) => (effect.says === "probability" ? `${100 * t} %` : num(t));
    if (isLine) {
      const x = linear(effect.x[0], effect.x[effect.x.length - 1], left, width - right);
      if (effect.histogram) {
        const { edges, counts } = effect.histogram,
          most = Math.max(...counts);
        counts.forEach((n, k) =>
          svg.append(
            sv("rect", {
              class: "hist",
              x: x(edges[k]) + 0.5,
              width: Math.max(0.5, x(edges[k + 1]) - x(edges[k]) - 1),
              y: height - bottom - (34 * n) / most,
              height: (34 * n) / most,
            }),
          ),
        );
      }
      svg.append(
        ...axes({
          x,
          y,
          xTicks: ticks(effect.x[0], effect.x[effect.x.length - 1], width < 340 ? 3 : 5),
          yTicks,
          width,
          height,
          left,
          bottom,
          yText,
          xText: bare,
          yName: unit,
        })
          .flat(3)
          .filter(Boolean),
      );
      effect.curves.forEach((c, k) => {
        const d = c.y
          .map((v, i) => `${i ? "L" : "M"}${x(effect.x[i]).toFixed(1)} ${y(v).toFixed(1)}`)
          .join("");
        svg.append(
          sv("path", {
            class: "curve",
            d,
            stroke: color(many ? k : 0),
            "stroke-dasharray": many ? DASHES[k % 6] : null,
          }),
        );
      });
      if (typeof effect.here === "number") {
        svg.append(
          sv("line", {
            class: "guide",
            x1: x(effect.here),
            x2: x(effect.here),
            y1: top,
            y2: height - bottom,
          }),
        );
      }
      return svg;
    }
    const n = effect.x.length,
      slot = (width - left) / n,
      x = (k) => left + slot * (k + 0.5);
    svg.append(
      ...axes({ x, y, xTicks: [], yTicks, width, height, left, bottom, yText, yName: unit })
        .flat(3)
        .filter(Boolean),
    );
    const rest = effect.x.indexOf(effect.here),
      probable = effect.says === "probability";
    if (!probable && rest >= 0)
      svg.append(
        sv("line", {
          class: "guide",
          x1: left,
          x2: width,
          y1: y(effect.curves[0].y[rest]),
          y2: y(effect.curves[0].y[rest]),
        }),
      );
    const every = Math.max(1, Math.ceil((effect.form === "dates" ? 74 : 34) / slot));
    effect.x.forEach((value, k) => {
      if (k % every === 0)
        svg.append(
          sv(
            "text",
            {
              x: x(k),
              y: height - bottom + 18,
              "text-anchor": "middle",
              class: value === effect.here ? "strong" : null,
            },
            cut(bare(value), slot * every - 4),
          ),
        );
      effect.curves.forEach((c, o) => {
        const away = many
          ? (o - (effect.curves.length - 1) / 2) * Math.min(12, slot / (effect.curves.length + 1))
          : 0;
        svg.append(
          sv("line", {
            x1: x(k) + away,
            x2: x(k) + away,
            y1: y(probable ? 0 : rest >= 0 ? c.y[rest] : low - pad),
            y2: y(c.y[k]),
            stroke: color(many ? o : 0),
            "stroke-width": 1.4,
            opacity: 0.45,
          }),
        );
        svg.append(mark(MARKS[many ? o % 8 : 0], x(k) + away, y(c.y[k]), 5, color(many ? o : 0)));
      });
    });
    return svg;
  };
  const step = Math.max(1, Math.ceil(effect.x.length / 24));
  const rows = effect.x
    .map((v, k) => [bare(v), ...effect.curves.map((c) => says(c.y[k]))])
    .filter((_, k) => k % step === 0);
  const head = [effect.name, ...effect.curves.map((c) => (c.of === null ? unit : cell(c.of)))];
  return figure({
    draw,
    caption,
    attributes: { class: "effect" },
    table: { head, rows, title: step > 1 ? "Some of the numbers as a table" : undefined },
  });
}
