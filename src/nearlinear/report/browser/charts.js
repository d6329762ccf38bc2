// Pictures: each takes a part of the document and gives a figure.

// Score against time of all models; `choose(point)` is told which one was clicked.
function frontChart(front, choose) {
  const own = front.points.map((p) => ({ ...p, peer: false }));
  const all = own.concat(front.peers.map((p) => ({ ...p, peer: true })));
  const label = (p) => `${p.name || p.model}: ${percent(p.score)}, ${micro(p.us)} a row${p.is_chosen ? ", chosen" : ""}${p.peer ? (p.ours ? ", on test rows" : ", an alternative, on test rows") : ""}`;
  const draw = (width) => {
    const height = Math.max(280, Math.min(380, width * 0.62)), left = 52, bottom = 42, top = 26;
    const us = all.map((p) => Math.max(p.us, 1e-4)), scores = all.map((p) => p.score);
    const low = Math.min(...us) / 1.6, high = Math.max(...us) * 1.6;
    // a few that are far below stand at the bottom, with an arrow
    const ranked = [...scores].sort((a, b) => b - a), best = ranked[0], half = ranked[Math.floor(ranked.length / 2)];
    const lowest = Math.max(ranked[ranked.length - 1], best - 3 * Math.max(best - half, 0.005));
    const span = best - lowest || 0.02, from = lowest - 0.1 * span, to = best + 0.14 * span, isBelow = (p) => p.score < lowest;
    const lx = linear(Math.log10(low), Math.log10(high), left + 6, width - 10), x = (v) => lx(Math.log10(Math.max(v, 1e-4)));
    const y = linear(from, to, height - bottom, top);
    const svg = canvas(width, height, `${front.score} against microseconds a row, ${all.length} models`, "group");
    svg.append(...axes({ x, y, xTicks: logTicks(low, high), yTicks: ticks(from, to, 5), width, height, left, bottom,
      xName: "time of a prediction, µs a row (log scale)", yName: front.peers.length ? "score" : front.score,
      yText: (t) => `${num(100 * t, 3)} %` }).flat(3).filter(Boolean));
    const line = own.filter((p) => p.on_front).sort((a, b) => a.us - b.us);
    if (line.length > 1) {
      const path = line.map((p, k) => (k ? `H${x(p.us)} V${y(p.score)}` : `M${x(p.us)} ${y(p.score)}`)).join(" ");
      svg.append(sv("path", { d: path, class: "guide" }));
    }
    const taken = all.map((p) => ({ x: x(p.us) - 8, y: y(isBelow(p) ? from + 0.05 * span : p.score) - 8, w: 16, h: 16 }));
    all.forEach((p) => {
      const paint = p.is_chosen || p.ours ? "var(--c1)" : p.peer ? "var(--strong)" : "var(--c0)";
      const cx = x(p.us), cy = y(isBelow(p) ? from + 0.05 * span : p.score);
      const text = cut((p.name || p.model) + (isBelow(p) ? ` ↓ ${num(100 * p.score, 3)} %` : ""), Math.min(250, width / 2.3));
      const w = text.length * 6.6, side = p.is_chosen ? 18 : 10, spots = [[side, 4, "start"], [-side, 4, "end"], [0, -side - 3, "middle"], [0, side + 11, "middle"], [10, -9, "start"], [-10, -9, "end"], [10, 17, "start"], [-10, 17, "end"], [0, -27, "middle"], [0, 35, "middle"]];
      const box = ([dx, dy, anchor]) => ({ x: cx + dx - (anchor === "end" ? w : anchor === "middle" ? w / 2 : 0), y: cy + dy - 11, w, h: 14 });
      const cost = (spot) => { const b = box(spot); return taken.reduce((s, t) => s + Math.max(0, Math.min(b.x + b.w, t.x + t.w) - Math.max(b.x, t.x)) * Math.max(0, Math.min(b.y + b.h, t.y + t.h) - Math.max(b.y, t.y)), 0) + 40 * (Math.max(0, left - b.x) + Math.max(0, b.x + b.w - width) + Math.max(0, top - 8 - b.y) + Math.max(0, b.y + b.h - (height - bottom))); };
      const spot = spots.reduce((best, one) => (cost(one) < cost(best) - 1e-9 ? one : best));
      taken.push(box(spot));
      const node = sv("g", { class: "point", tabindex: "0", role: "button", "aria-label": label(p), "aria-pressed": String(p.is_chosen === true) },
        sv("title", null, label(p)),
        sv("circle", { class: "halo", cx, cy, r: p.is_chosen ? 13 : 11 }),
        p.error && sv("line", { class: "error", x1: cx, x2: cx, y1: y(Math.max(from, p.score - p.error)), y2: y(Math.min(to, p.score + p.error)), stroke: paint, "stroke-width": 1.6 }),
        mark(p.peer ? "square" : "circle", cx, cy, p.is_chosen ? 7.5 : 5.5, paint, !p.peer && !p.on_front && !p.is_chosen));
      // beside the button, whose name is its title
      const name = sv("text", { x: cx + spot[0], y: cy + spot[1], "text-anchor": spot[2], class: p.is_chosen ? "strong over" : "over", "aria-hidden": "true" }, text);
      const pick = () => {
        svg.querySelectorAll(".point").forEach((one) => one.setAttribute("aria-pressed", String(one === node)));
        choose(p);
      };
      node.addEventListener("click", pick);
      name.addEventListener("click", pick);
      node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); } });
      svg.append(node, name);
    });
    return svg;
  };
  const kinds = [{ name: "chosen", kind: "circle", paint: "var(--c1)" }, { name: "nothing is both better and quicker", kind: "circle", paint: "var(--c0)" }];
  if (own.some((p) => !p.on_front && !p.is_chosen)) kinds.push({ name: "others that were tried", kind: "circle", paint: "var(--c0)", hollow: true });
  if (front.peers.length) kinds.push({ name: "alternatives, on test rows", kind: "square", paint: "var(--strong)" }, { name: "ours on these", kind: "square", paint: "var(--c1)" });
  return figure({
    draw, legend: legendOf(kinds), attributes: { id: "front-chart" },
    table: { head: ["model", "score", "± error", "µs a row", "× linear", "bytes"],
      rows: all.map((p) => [(p.name || p.model) + (p.is_chosen ? " (chosen)" : ""), percent(p.score, 2), p.error ? percent(p.error, 2) : "–", num(p.us, 3), num(p.times_linear, 3), bytes(p.bytes)]) },
  });
}

// Horizontal bars from a common zero; entries are {name, value, text}.
function barsChart(entries, label, { signed = false, attributes, most, table = true } = {}) {
  const draw = (width) => {
    const row = 25, height = row * entries.length + 4;
    const nameWidth = Math.min(width * (signed ? 0.36 : 0.42), Math.max(...entries.map((e) => [...e.name].length)) * 6.9 + 10), room = signed ? 10 : 62;
    const top = most || Math.max(...entries.map((e) => Math.abs(e.value)), 1e-300);
    const lowest = signed ? Math.min(0, ...entries.map((e) => e.value)) : 0, highest = signed ? Math.max(0, ...entries.map((e) => e.value)) : top;
    const textRoom = signed ? 7 * Math.max(...entries.map((e) => e.text.length)) + 8 : 0;
    const x = linear(lowest, highest === lowest ? lowest + 1 : highest, nameWidth + 8 + (lowest < 0 ? textRoom : 0), width - room - (signed && highest > 0 ? textRoom - 10 : 0));
    const svg = canvas(width, height, label);
    entries.forEach((e, k) => {
      const y = row * k + 4, a = x(Math.min(0, e.value)), b = x(Math.max(0, e.value));
      svg.append(sv("text", { x: nameWidth, y: y + 14, "text-anchor": "end", class: e.strong ? "strong" : null }, cut(e.name, nameWidth)));
      svg.append(sv("rect", { class: signed && e.value < 0 ? "against" : "bar", x: a, y: y + 3, width: Math.max(b - a, 1), height: 14, rx: 2, style: null }));
      const left = signed && e.value < 0;
      svg.append(sv("text", { x: left ? a - 6 : b + 6, y: y + 14, "text-anchor": left ? "end" : "start" }, e.text));
    });
    svg.append(sv("line", { class: "zero", x1: x(0), x2: x(0), y1: 2, y2: height }));
    return svg;
  };
  return figure({ draw, attributes, table: table && { head: ["name", "value"], rows: entries.map((e) => [e.name, e.text]) } });
}

// What the model says along one column.
function effectChart(effect, unit, caption) {
  const isLine = ["steps", "lines", "mixed", "grid"].includes(effect.form);
  const many = effect.curves.length > 1;
  const says = effect.says === "probability" ? percent : num;
  const label = `Effect of ${effect.name} on ${unit}`;
  const draw = (width) => {
    const height = 210, left = 50, bottom = isLine ? 36 : 36, right = many && isLine ? 6 : 6, top = 22;
    const ys = effect.curves.flatMap((c) => c.y);
    let low = Math.min(...ys), high = Math.max(...ys);
    if (effect.says === "probability") { low = 0; high = 1; }
    const pad = effect.says === "probability" ? 0.02 : 0.06 * (high - low || 1);
    const y = linear(low - pad, high + pad, height - bottom, top);
    const svg = canvas(width, height, label);
    const yTicks = effect.says === "probability" ? [0, 0.5, 1] : ticks(low, high, 4);
    const yText = (t) => (effect.says === "probability" ? `${100 * t} %` : num(t));
    if (isLine) {
      const x = linear(effect.x[0], effect.x[effect.x.length - 1], left, width - right);
      if (effect.histogram) {
        const { edges, counts } = effect.histogram, most = Math.max(...counts);
        counts.forEach((n, k) => svg.append(sv("rect", { class: "hist", x: x(edges[k]) + 0.5, width: Math.max(0.5, x(edges[k + 1]) - x(edges[k]) - 1), y: height - bottom - 34 * n / most, height: 34 * n / most })));
      }
      svg.append(...axes({ x, y, xTicks: ticks(effect.x[0], effect.x[effect.x.length - 1], width < 340 ? 3 : 5), yTicks, width, height, left, bottom, yText, xText: bare, yName: unit }).flat(3).filter(Boolean));
      effect.curves.forEach((c, k) => {
        const d = c.y.map((v, i) => `${i ? "L" : "M"}${x(effect.x[i]).toFixed(1)} ${y(v).toFixed(1)}`).join("");
        svg.append(sv("path", { class: "curve", d, stroke: color(many ? k : 0), "stroke-dasharray": many ? DASHES[k % 6] : null }));
      });
      if (typeof effect.here === "number") {
        svg.append(sv("line", { class: "guide", x1: x(effect.here), x2: x(effect.here), y1: top, y2: height - bottom }));
      }
      return svg;
    }
    const n = effect.x.length, slot = (width - left) / n, x = (k) => left + slot * (k + 0.5);
    svg.append(...axes({ x, y, xTicks: [], yTicks, width, height, left, bottom, yText, yName: unit }).flat(3).filter(Boolean));
    const rest = effect.x.indexOf(effect.here), probable = effect.says === "probability";
    if (!probable && rest >= 0) svg.append(sv("line", { class: "guide", x1: left, x2: width, y1: y(effect.curves[0].y[rest]), y2: y(effect.curves[0].y[rest]) }));
    const every = Math.max(1, Math.ceil((effect.form === "dates" ? 74 : 34) / slot));
    effect.x.forEach((value, k) => {
      if (k % every === 0) svg.append(sv("text", { x: x(k), y: height - bottom + 18, "text-anchor": "middle", class: value === effect.here ? "strong" : null }, cut(bare(value), slot * every - 4)));
      effect.curves.forEach((c, o) => {
        const away = many ? (o - (effect.curves.length - 1) / 2) * Math.min(12, slot / (effect.curves.length + 1)) : 0;
        svg.append(sv("line", { x1: x(k) + away, x2: x(k) + away, y1: y(probable ? 0 : rest >= 0 ? c.y[rest] : low - pad), y2: y(c.y[k]), stroke: color(many ? o : 0), "stroke-width": 1.4, opacity: 0.45 }));
        svg.append(mark(MARKS[many ? o % 8 : 0], x(k) + away, y(c.y[k]), 5, color(many ? o : 0)));
      });
    });
    return svg;
  };
  const step = Math.max(1, Math.ceil(effect.x.length / 24));
  const rows = effect.x.map((v, k) => [bare(v), ...effect.curves.map((c) => says(c.y[k]))]).filter((_, k) => k % step === 0);
  const head = [effect.name, ...effect.curves.map((c) => (c.of === null ? unit : cell(c.of)))];
  return figure({ draw, caption, attributes: { class: "effect" }, table: { head, rows, title: step > 1 ? "Some of the numbers as a table" : undefined } });
}

function calibrationChart(found) {
  const what = found.of === null ? "its label" : String(found.of);
  const draw = (width) => {
    const side = Math.min(width, 420), height = side * 0.86, left = 50, bottom = 42, top = 24;
    const x = linear(0, 1, left, side - 8), y = linear(0, 1, height - bottom, top), p = (t) => `${100 * t} %`;
    const svg = canvas(side, height, `Calibration: said and come true, ${found.bins.length} groups of rows, mean gap ${percent(found.gap)}`);
    svg.append(...axes({ x, y, xTicks: [0, 0.25, 0.5, 0.75, 1], yTicks: [0, 0.25, 0.5, 0.75, 1], width: side, height, left, bottom, xText: p, yText: p, xName: `said: probability of ${what}`, yName: "came true" }).flat(3).filter(Boolean));
    svg.append(sv("line", { class: "guide", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }));
    svg.append(sv("path", { class: "curve", stroke: "var(--c0)", d: found.bins.map((b, k) => `${k ? "L" : "M"}${x(b.said)} ${y(b.came_true)}`).join("") }));
    found.bins.forEach((b) => {
      svg.append(sv("line", { x1: x(b.said), x2: x(b.said), y1: y(Math.max(0, b.came_true - b.error)), y2: y(Math.min(1, b.came_true + b.error)), stroke: "var(--c0)", opacity: 0.5 }));
      svg.append(mark("circle", x(b.said), y(b.came_true), 4.5, "var(--c0)"));
    });
    return svg;
  };
  return figure({ draw, table: { head: ["said", "came true", "rows"], rows: found.bins.map((b) => [percent(b.said), percent(b.came_true), num(b.rows)]) } });
}

function scatterChart(measures, unit) {
  const values = measures.points.flat(), low = Math.min(...values), high = Math.max(...values);
  const draw = (width) => {
    const height = Math.min(width * 0.82, 380), left = 58, bottom = 42, top = 24;
    const x = linear(low, high, left + 4, width - 8), y = linear(low, high, height - bottom - 4, top);
    const svg = canvas(width, height, `Predicted against true ${unit}, ${measures.points.length} rows, R² ${num(measures.r2, 3)}`);
    svg.append(...axes({ x, y, xTicks: ticks(low, high, width < 340 ? 3 : 5), yTicks: ticks(low, high, 5), width, height, left, bottom, xName: `true ${unit}`, yName: "predicted" }).flat(3).filter(Boolean));
    svg.append(sv("line", { class: "guide", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }));
    measures.points.forEach(([a, b]) => svg.append(sv("circle", { cx: x(a).toFixed(1), cy: y(b).toFixed(1), r: 3.2, fill: "var(--c0)", opacity: 0.6 })));
    return svg;
  };
  return figure({ draw, table: { title: "Some of the rows as a table", head: ["true", "predicted"], rows: measures.points.filter((_, k) => k % Math.ceil(measures.points.length / 25) === 0).map(([a, b]) => [num(a), num(b)]) } });
}

function histogramChart({ edges, counts }, name) {
  const draw = (width) => {
    const height = Math.min(width * 0.82, 300), left = 40, bottom = 42, top = 24, most = Math.max(...counts);
    const x = linear(edges[0], edges[edges.length - 1], left, width - 4), y = linear(0, most, height - bottom, top);
    const svg = canvas(width, height, `Histogram of ${name}`);
    svg.append(...axes({ x, y, xTicks: ticks(edges[0], edges[edges.length - 1], 4), yTicks: ticks(0, most, 4), width, height, left, bottom, xName: name, yName: "rows" }).flat(3).filter(Boolean));
    counts.forEach((n, k) => svg.append(sv("rect", { class: "bar soft", x: x(edges[k]) + 0.7, width: Math.max(1, x(edges[k + 1]) - x(edges[k]) - 1.4), y: y(n), height: height - bottom - y(n) })));
    svg.append(sv("line", { class: "guide", x1: x(0), x2: x(0), y1: top, y2: height - bottom }));
    return svg;
  };
  return figure({ draw, table: { head: ["from", "to", "rows"], rows: counts.map((n, k) => [num(edges[k], 3), num(edges[k + 1], 3), num(n)]) } });
}

// Rows on two directions that set regions apart; the first eight regions have colors of their own.
function mapChart(points, order, caption) {
  const rank = new Map(order.map((number, k) => [number, k]));
  const xs = points.map((p) => p.x), ys = points.map((p) => p.y);
  const paint = (k) => (k < 8 ? color(k) : "var(--strong)");
  const draw = (width) => {
    const height = Math.min(width * 0.72, 430), pad = 22;
    const x = linear(Math.min(...xs), Math.max(...xs), pad, width - pad), y = linear(Math.min(...ys), Math.max(...ys), height - pad, pad);
    const svg = canvas(width, height, `Map of ${points.length} rows in ${order.length} regions`);
    svg.append(sv("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 10, fill: "none", class: "axis" }));
    points.forEach((p) => { const k = rank.get(p.region); svg.append(mark(MARKS[k % 8], x(p.x), y(p.y), 3.6, paint(k), p.right === false)); });
    const spots = order.map((number) => {
      const mine = points.filter((p) => p.region === number), middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
      return mine.length ? { x: middle(mine.map((p) => x(p.x))), y: middle(mine.map((p) => y(p.y))) } : null;
    });
    apart(spots.filter(Boolean), 21, width, height);
    spots.forEach((spot, k) => {
      if (!spot) return;
      svg.append(sv("circle", { cx: spot.x, cy: spot.y, r: 10, fill: "var(--paper)", stroke: paint(k), "stroke-width": 2 }));
      svg.append(sv("text", { x: spot.x, y: spot.y + 4, "text-anchor": "middle", class: "strong" }, String(k + 1)));
    });
    return svg;
  };
  return figure({ draw, caption, attributes: { id: "map-chart" }, table: { title: "The regions as a table", head: ["region", "rows on the map"], rows: order.map((n, k) => [String(k + 1), num(points.filter((p) => p.region === n).length)]) } });
}

// Moves spots until no two are nearer than `least`.
function apart(spots, least, width, height) {
  for (let turn = 0; turn < 60; turn++) {
    for (let a = 0; a < spots.length; a++) {
      for (let b = 0; b < a; b++) {
        const dx = spots[a].x - spots[b].x || 0.1, dy = spots[a].y - spots[b].y || 0.1, far = Math.hypot(dx, dy);
        if (far >= least) continue;
        const push = (least - far) / 2 / far;
        spots[a].x += dx * push; spots[a].y += dy * push;
        spots[b].x -= dx * push; spots[b].y -= dy * push;
      }
    }
    spots.forEach((one) => { one.x = Math.min(width - 12, Math.max(12, one.x)); one.y = Math.min(height - 12, Math.max(12, one.y)); });
  }
}
