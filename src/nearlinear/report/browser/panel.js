// The what-if panel: the model itself, run in this page by nearlinear.js.

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

// What the model says of one row, in one form for all models.
class Asker {
  constructor(model, doc, regions = model) {
    this.model = model;
    this.regions = regions;  // of an average, the member that has some
    this.doc = doc;
    this.classes = doc.classes;
    this.hasChances = doc.what_if.probabilities;
  }

  scores(rows) {
    const found = this.classes ? this.model.decisionFunction(rows) : this.model.predict(rows);
    return Array.from(found, (one) => (typeof one === "number" ? [one] : Array.from(one)));
  }

  chances(rows) { return this.hasChances ? Array.from(this.model.predictProba(rows), (one) => Array.from(one)) : null; }

  // The number of the class, or 1 where a value is at least `wanted`, else 0.
  labels(rows, wanted) {
    const all = this.scores(rows);
    if (!this.classes) return all.map(([value]) => Number(value >= wanted));
    if (all[0].length === 1) return all.map(([score]) => Number(score > 0));
    return all.map((scores) => scores.indexOf(Math.max(...scores)));
  }
}

const REST = 60;  // milliseconds

function whatIf(doc, model, regions) {
  const setup = doc.what_if, asker = new Asker(model, doc, regions);
  const first = Math.min(1, setup.rows.length - 1);
  let row = setup.rows[first].row.slice();
  let wanted = doc.task === "values" ? doc.measures.median : null;
  const answer = el("div", { class: "answer", id: "answer", "aria-live": "polite" });
  const fields = setup.controls.map((one) => control(one, () => row, (value) => { row[one.column] = value; refresh(); }));
  const status = el("p", { class: "small error", role: "status" });

  const take = (cells) => { row = cells.slice(); fields.forEach((one) => one.show()); refresh(); };
  const picker = el("select", { id: "start-row", onchange: (event) => take(setup.rows[Number(event.target.value)].row) },
    setup.rows.map((one, k) => el("option", { value: String(k) }, one.name + (one.truth === undefined ? "" : ` (in truth ${typeof one.truth === "number" ? num(one.truth) : cell(one.truth)})`))));
  picker.value = String(first);

  // The answer follows at once; reasons and changes, which take more, when the hand rests.
  let waiting = false, resting = 0;
  const head = el("div", { class: "answer-head" }), more = el("div", { class: "answer-more" });
  answer.append(head, more);
  function refresh() {
    answer.dataset.busy = "yes";
    clearTimeout(resting);
    resting = setTimeout(() => guarded(more, () => grounds(asker, row, doc, { wanted, setWanted: (v) => { wanted = v; refresh(); }, take })), REST);
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; guarded(head, () => said(asker, row, doc)); });
  }
  function guarded(place, make) {
    try { place.replaceChildren(...[make()].flat(3).filter(Boolean)); } catch (error) {
      head.replaceChildren(el("p", { class: "problem" }, error.message));
      more.replaceChildren();
    }
    if (place === more) answer.dataset.busy = "no";
  }

  const box = el("textarea", { id: "paste", "aria-label": "A row as a CSV line or JSON", placeholder: `${setup.names.slice(0, 4).join(",")}…` });
  const paste = el("details", { class: "paste" }, el("summary", null, "Paste a row of your own"),
    el("p", { class: "small" }, "A line of CSV in the order of the columns (with a header line in any order), or JSON: a list or an object by name."),
    box, el("button", { type: "button", id: "use-paste", onclick: () => {
      try { take(parsedRow(box.value, setup.names, row)); status.textContent = ""; } catch (error) { status.textContent = error.message; }
    } }, "Use this row"), status);

  refresh();
  return el("div", { class: "panel", id: "panel" },
    el("div", { class: "bar-top" }, el("label", { for: "start-row" }, "Begin with"), picker),
    el("div", { class: "halves" },
      el("div", null, el("h3", null, "A row"), el("div", { class: "controls", tabindex: "0", role: "group", "aria-label": "columns of the row" }, fields.map((one) => one.node)), paste),
      answer));
}

function control(one, rowOf, set) {
  const id = `column-${one.column}`, text = (v) => (v === null || v === undefined ? "" : String(v));
  const parts = [];
  const show = () => {
    const value = rowOf()[one.column];
    parts.forEach((part) => part(value));
  };
  const unknown = one.can_miss && el("input", { type: "checkbox", "aria-label": `${one.name} is missing`, onchange: (event) => {
    set(event.target.checked ? null : one.kind === "number" ? middle(one) : one.kind === "text" ? one.values[0] : one.low);
    show();
  } });
  if (unknown) parts.push((value) => { unknown.checked = value === null; });
  const ask = unknown && el("label", { class: "ask" }, unknown, "missing");
  let input, slider = null;
  if (one.kind === "text") {
    input = el("select", { id, onchange: (event) => set(event.target.value) }, one.values.map((value) => el("option", { value }, value === "" ? "(empty)" : value)));
    parts.push((value) => {
      input.disabled = value === null;
      if (value !== null && !one.values.includes(String(value))) input.append(el("option", { value: String(value) }, String(value)));
      if (value !== null) input.value = String(value);
    });
  } else if (one.kind === "date") {
    input = el("input", { id, type: "text", size: 12, onchange: (event) => set(event.target.value.trim() || null) });
    parts.push((value) => { input.disabled = value === null; input.value = text(value); });
  } else {
    const give = (value) => { if (value !== "" && Number.isFinite(Number(value))) { set(Number(value)); show(); } };
    input = el("input", { id, type: "number", step: "any", onchange: (event) => give(event.target.value) });
    slider = el("input", { type: "range", min: one.low, max: one.high, step: one.step, "aria-label": `${one.name}, slider`, oninput: (event) => give(event.target.value) });
    parts.push((value) => {
      input.disabled = slider.disabled = value === null;
      input.value = text(value === null ? null : Number(Number(value).toPrecision(10)));
      if (value !== null) slider.value = value;
    });
  }
  show();
  return { show, node: el("div", { class: "control" }, el("div", { class: "line" }, el("label", { for: id }, one.name), el("span", { class: "right" }, !slider && ask, input)), slider && el("div", { class: "line slide" }, slider, ask)) };
}

function middle(one) { return one.is_whole ? Math.round((one.low + one.high) / 2) : (one.low + one.high) / 2; }

// --- what is said of the row ---------------------------------------------------------------------

function shownOf(scores, doc) {
  return !doc.classes ? 0 : scores.length === 1 ? Number(scores[0] > 0) : scores.indexOf(Math.max(...scores));
}

function said(asker, row, doc) {
  const scores = asker.scores([row])[0], chances = asker.chances([row]), shown = shownOf(scores, doc);
  const label = doc.classes ? cell(doc.classes[shown]) : num(scores[0], 6);
  const beside = doc.classes ? [chances && `${percent(chances[0][shown])} sure`, `score ${num(scores[Math.min(shown, scores.length - 1)], 5)}`].filter(Boolean).join(" · ") : unitOf(doc);
  return [el("h3", null, "The answer"), el("div", { class: "big", id: "answer-label" }, label),
    el("p", { class: "facts" }, beside, facts(asker, row, doc)),
    el("span", { class: "sr", id: "raw-answer", "aria-hidden": "true" }, JSON.stringify({ scores, chances: chances && chances[0] }))];
}

function grounds(asker, row, doc, hands) {
  const scores = asker.scores([row])[0], chances = asker.chances([row]), shown = shownOf(scores, doc);
  const bars = chances && doc.classes.length <= 12 && barsChart(doc.classes.map((c, k) => ({ name: cell(c), value: chances[0][k], text: percent(chances[0][k]), strong: k === shown })), "Probability of each class", { most: 1, table: false, attributes: { id: "chances" } });
  return [bars, reasons(asker, row, doc, shown, runnerUp(scores, shown)), changes(asker, row, doc, hands)];
}

function facts(asker, row, doc) {
  const found = [];
  const number = doc.regions && regionOf(asker.regions, row, doc.regions.nodes);
  if (Number.isInteger(number)) {
    const place = doc.regions.regions.findIndex((r) => r.number === number);
    found.push(place >= 0 ? ` · ${doc.regions.nodes ? "group" : "region"} ${place + 1}` : " · a rarely visited region");
  }
  if (doc.what_if.support) {
    try {
      const score = Number(asker.model.supportScore([row])[0]);
      found.push(` · seen before? ${score > 0.5 ? "yes" : score > 0.05 ? "partly" : "hardly"} (${num(score, 2)} of 1)`);
    } catch { /* a model whose file cannot tell */ }
  }
  return el("span", { id: "facts-more" }, found.join(""));
}

// The number of the region, or of the group that questions lead to; a missing cell is a no.
function regionOf(model, row, nodes) {
  if (!nodes) {
    try { return model.regions([row])[0].region; } catch { return null; }
  }
  let node = nodes[0];
  while (node.group === undefined) {
    const value = row[node.column];
    const isYes = typeof node.value === "string" ? String(value) === node.value : value !== null && Number(value) <= node.value;
    node = nodes[isYes ? node.yes : node.no];
  }
  return node.group;
}

// The class that comes second, where there are several scores.
function runnerUp(scores, shown) {
  if (scores.length === 1) return null;
  return scores.reduce((best, score, k) => (k !== shown && (best === null || score > scores[best]) ? k : best), null);
}

function reasons(asker, row, doc, shown, second) {
  const found = ofColumns(asker, row, shown, second) || besideTypical(asker, row, doc, shown, second);
  const flip = doc.classes && second === null && shown === 0 ? -1 : 1;
  const entries = found.parts.map((e) => ({ ...e, value: flip * e.value })).filter((e) => Math.abs(e.value) > 1e-12).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const against = second === null ? "" : `, against ${cell(doc.classes[second])}`;
  const title = el("h4", null, doc.classes ? `What speaks for ${cell(doc.classes[shown])}${against}` : "What moves it");
  if (!entries.length) return [title, el("p", { class: "small" }, "This is the typical row: others are compared with it.")];
  const kept = entries.slice(0, 8), rest = entries.slice(8).reduce((sum, e) => sum + e.value, 0);
  if (entries.length > 8) kept.push({ name: `${entries.length - 8} others`, value: rest });
  kept.forEach((e) => { e.text = (e.value > 0 ? "+" : "") + num(e.value, 3); });
  const what = !doc.classes ? unitOf(doc) : second === null ? "score" : "lead in score";
  const total = num(flip * (found.base + found.parts.reduce((sum, e) => sum + e.value, 0)), 4);
  return [title, barsChart(kept, "Contributions to the score", { signed: true, table: false, attributes: { id: "contributions" } }),
    el("p", { class: "small" }, found.isTypical
      ? `From the typical row, whose ${what} is ${num(flip * found.base, 4)}, to this one (${total}): what each column adds, as a mean over all orders (Shapley values). The parts sum to the difference exactly.`
      : `Columns add these parts to ${num(flip * found.base, 4)}, where the ${what} begins; together ${total}, exactly.`)];
}

// The model's own contributions, where it has those of columns.
function ofColumns(asker, row, shown, second) {
  let found;
  try { found = asker.model.contributions([row]); } catch { return null; }
  found = Array.isArray(found) ? found[0] : found;
  if (!found || !found.values || found.names[0] === "kernel 0") return null;
  const lead = (values) => (second === null ? values : Array.from(values[shown], (value, k) => value - values[second][k]));
  const values = Array.from(typeof found.values[0] === "number" ? found.values : second === null ? found.values[0] : lead(found.values));
  const base = typeof found.base === "number" ? found.base : second === null ? found.base[0] : found.base[shown] - found.base[second];
  return { parts: values.map((value, k) => ({ name: found.names[k], value })), base };
}

// A kernel machine has no parts of columns: those of the way from the typical row to this one.
const MOST_EXACT = 9, ORDERS = 48;

function besideTypical(asker, row, doc, shown, second) {
  const typical = doc.what_if.rows[0].row, columns = row.map((_, k) => k).filter((k) => row[k] !== typical[k]);
  const mixed = (isOurs) => { const next = typical.slice(); columns.forEach((k, place) => { if (isOurs(place)) next[k] = row[k]; }); return next; };
  const n = columns.length, score = (rows) => asker.scores(rows).map((one) => (second === null ? one[0] : one[shown] - one[second]));
  const values = new Array(n).fill(0), base = score([typical])[0];
  if (n <= MOST_EXACT) {
    const sets = Array.from({ length: 2 ** n }, (_, set) => mixed((place) => (set >> place) & 1)), found = score(sets);
    const weight = [];  // of a set of each size: s! (n − s − 1)! / n!
    for (let s = 0; s < n; s++) { let w = 1 / n; for (let k = 1; k <= s; k++) w *= k / (n - k); weight.push(w); }
    for (let set = 0; set < 2 ** n; set++) {
      let size = 0;
      for (let k = 0; k < n; k++) size += (set >> k) & 1;
      for (let k = 0; k < n; k++) if (!((set >> k) & 1)) values[k] += weight[size] * (found[set | (1 << k)] - found[set]);
    }
  } else {
    let seed = 1;
    const random = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647; };
    for (let turn = 0; turn < ORDERS; turn++) {
      const order = values.map((_, k) => k);
      for (let k = n - 1; k > 0; k--) { const other = Math.floor(random() * (k + 1)); [order[k], order[other]] = [order[other], order[k]]; }
      const rank = new Array(n);
      order.forEach((k, place) => { rank[k] = place; });
      const found = score(Array.from({ length: n + 1 }, (_, many) => mixed((place) => rank[place] < many)));
      order.forEach((k, place) => { values[k] += (found[place + 1] - found[place]) / ORDERS; });
    }
  }
  return { parts: columns.map((k, place) => ({ name: doc.what_if.names[k], value: values[place] })), base, isTypical: true };
}

// --- the nearest change of one column that flips the answer --------------------------------------

const GRID = 64, HALVINGS = 40;

function changes(asker, row, doc, { wanted, setWanted, take }) {
  const before = asker.labels([row], wanted)[0];
  const found = [];
  for (const one of doc.what_if.controls) {
    const change = one.kind === "number" ? ofNumber(asker, row, one, before, wanted) : one.kind === "text" ? ofText(asker, row, one, before, wanted) : null;
    if (change) found.push(change);
  }
  found.sort((a, b) => a.far - b.far);
  const title = doc.classes ? "The nearest change that flips the answer" : "The nearest change that crosses a value";
  const list = found.slice(0, 4).map((c) => el("li", null,
    el("span", null, `${c.name}: ${bare(row[c.column])} → ${typeof c.value === "number" ? bare(Number(c.value.toPrecision(6))) : c.value}`, doc.classes ? ` gives ${cell(doc.classes[c.label])}` : ""),
    el("button", { type: "button", class: "quiet", "aria-label": `Try ${c.name} ${c.value}`, onclick: () => { const next = row.slice(); next[c.column] = c.value; take(next); } }, "Try")));
  const ask = !doc.classes && el("p", { class: "small" }, el("label", { for: "wanted" }, "Cross the value "), el("input", { id: "wanted", type: "number", step: "any", value: String(wanted), onchange: (event) => { if (event.target.value !== "") setWanted(Number(event.target.value)); } }));
  return [el("h4", null, title), ask, list.length ? el("ul", { class: "changes", id: "changes" }, list)
    : el("p", { class: "small" }, "No single column does it inside the range of the rows of this report.")].filter(Boolean);
}

function withCell(row, column, value) { const next = row.slice(); next[column] = value; return next; }

function ofNumber(asker, row, one, before, wanted) {
  const here = row[one.column], width = one.high - one.low || 1;
  const fixed = one.values || (one.is_whole && width <= 200 ? Array.from({ length: width + 1 }, (_, k) => one.low + k) : null);
  const grid = fixed || Array.from({ length: GRID + 1 }, (_, k) => one.low + (width * k) / GRID);
  const labels = asker.labels(grid.map((value) => withCell(row, one.column, value)), wanted);
  let best = null;
  grid.forEach((value, k) => {
    const far = here === null ? 0 : Math.abs(value - here);
    if (labels[k] !== before && (best === null || far < best.far)) best = { value, far, label: labels[k] };
  });
  if (best === null) return null;
  if (!fixed && here !== null) {
    let inside = here, outside = best.value, label = best.label;
    for (let k = 0; k < HALVINGS; k++) {
      const half = (inside + outside) / 2, found = asker.labels([withCell(row, one.column, half)], wanted)[0];
      if (found === before) inside = half;
      else { outside = half; label = found; }
    }
    best = { value: shortBetween(inside, outside), far: Math.abs(outside - here), label };
    if (asker.labels([withCell(row, one.column, best.value)], wanted)[0] === before) best.value = outside;
  }
  return { name: one.name, column: one.column, value: best.value, label: best.label, far: best.far / (one.spread || width) };
}

// The number of fewest digits on the far side of a border.
function shortBetween(inside, outside) {
  for (let digits = 2; digits < 16; digits++) {
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(outside) || 1)) - digits + 1);
    const value = Number(((outside > inside ? Math.ceil(outside / unit) : Math.floor(outside / unit)) * unit).toPrecision(digits + 1));
    if (Math.abs(value - outside) <= 0.02 * Math.abs(outside - inside) + 2e-3 * Math.abs(outside)) return value;
  }
  return outside;
}

function ofText(asker, row, one, before, wanted) {
  const values = one.values.filter((value) => value !== row[one.column]);
  if (!values.length) return null;
  const labels = asker.labels(values.map((value) => withCell(row, one.column, value)), wanted);
  const k = labels.findIndex((label) => label !== before);
  return k < 0 ? null : { name: one.name, column: one.column, value: values[k], label: labels[k], far: 1 };
}

// --- rows that people paste ----------------------------------------------------------------------

function parsedRow(text, names, before) {
  const trimmed = text.trim();
  if (!trimmed) throw new Error("Nothing is pasted: give a CSV line or JSON.");
  if (trimmed[0] === "{" || trimmed[0] === "[") return ofJson(trimmed, names, before);
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== "").map(csvCells);
  const header = lines.length > 1 ? lines[0] : names;
  const cells = lines[lines.length > 1 ? 1 : 0];
  if (cells.length !== header.length) throw new Error(`The line has ${cells.length} cells, and there are ${header.length} columns: ${header.slice(0, 6).join(", ")}${header.length > 6 ? ", …" : ""}.`);
  return byName(Object.fromEntries(header.map((name, k) => [name.trim(), asCell(cells[k])])), names, before);
}

function ofJson(text, names, before) {
  let found;
  try { found = JSON.parse(text); } catch { throw new Error("This is no JSON: check quotes, commas and brackets."); }
  if (Array.isArray(found) && found.length === 1 && typeof found[0] === "object" && found[0] !== null) found = found[0];
  if (Array.isArray(found)) {
    if (found.length !== names.length) throw new Error(`The list has ${found.length} values, and there are ${names.length} columns.`);
    return found;
  }
  return byName(found, names, before);
}

function byName(found, names, before) {
  const stranger = Object.keys(found).find((name) => !names.includes(name));
  const known = names.filter((name) => Object.hasOwn(found, name));
  if (!known.length) throw new Error(`None of these columns is known: the model has ${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""}.`);
  if (stranger !== undefined && known.length < names.length) throw new Error(`There is no column ${stranger}: the model has ${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""}.`);
  return names.map((name, k) => (Object.hasOwn(found, name) ? found[name] : before[k]));
}

function csvCells(line) {
  const cells = [], mark = !line.includes(",") && line.includes(";") ? ";" : !line.includes(",") && line.includes("\t") ? "\t" : ",";
  let text = "", quoted = false;
  for (let k = 0; k < line.length; k++) {
    const letter = line[k];
    if (quoted) {
      if (letter === '"' && line[k + 1] === '"') { text += '"'; k++; } else if (letter === '"') quoted = false;
      else text += letter;
    } else if (letter === '"' && text === "") quoted = true;
    else if (letter === mark) { cells.push(text); text = ""; } else text += letter;
  }
  cells.push(text);
  return cells;
}

function asCell(text) {
  const trimmed = text.trim();
  if (["", "NA", "NaN", "nan", "null", "None", "?"].includes(trimmed)) return null;
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}
