// The sections of the report, in the order in which they are read.

function section(id, title, ...children) {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), children);
}

function table(head, rows, classOf) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `table: ${head[0]}` }, el("table", null,
    el("thead", null, el("tr", null, head.map((name, k) => el("th", { scope: "col", class: k ? "n" : null }, name)))),
    el("tbody", null, rows.map((row, r) => el("tr", { class: classOf && classOf(r) }, row.map((value, k) => (k ? el("td", { class: "n" }, value) : el("th", { scope: "row" }, value))))))));
}

function inShort(doc) {
  return el("section", { id: "short", "aria-labelledby": "title" },
    el("h1", { id: "title" }, doc.title),
    el("p", { class: "lead asked" }, doc.asked),
    el("p", { class: "lead", id: "found" }, doc.found),
    el("dl", { class: "tiles" }, doc.headline.map((one, k) => el("div", null, el("dt", null, one.label), el("dd", null, el("div", { class: k ? "value" : "value first" }, one.value), el("div", { class: "small" }, one.note))))),
    !doc.is_own_judge && el("p", { class: "note" }, "Figures of accuracy come from a model of the same making that had not seen these rows. The model shown here was then fitted to all rows."));
}

function unitOf(doc) { return doc.target || (doc.task === "classes" ? "the answer" : "the value"); }

function howGood(doc) {
  const m = doc.measures;
  if (doc.task === "classes") return section("good", "How good is it?", classesTold(doc, m));
  const unit = unitOf(doc);
  return section("good", "How good is it?",
    el("p", null, `On ${num(m.rows)} rows that it had not seen, an answer is off by ${num(m.mae, 3)} on average. The root mean square of errors is ${num(m.rmse, 3)}; someone who always said the mean would have ${num(m.baseline, 3)}.`),
    el("div", { class: "grid2" },
      el("div", null, el("h3", null, "Predicted and true"), scatterChart(m, unit), el("p", { class: "note" }, "On the dashed line the answer is right.")),
      el("div", null, el("h3", null, "Errors"), histogramChart(m.residuals, "predicted less true"), el("p", { class: "note" }, "A good model has errors around 0, as often too high as too low."))),
    m.intervals && intervalsTold(m.intervals));
}

function intervalsTold(found) {
  return [el("h3", null, "Do its intervals hold?"),
    el("p", null, "The model can give an interval in place of a number. This is how often the true value lay in it, for the share that was asked for."),
    table(["asked for", "held", "mean width"], found.levels.map((one) => [percent(one.asked, 0), percent(one.held), num(one.width, 4)])),
    found.regions.length > 1 && el("details", null, el("summary", null, "By ranges of the answer, at 90 %"),
      table(["answers from", "to", "rows", "half width", "held"], found.regions.map((r) => [r.from === null ? "−∞" : num(r.from), r.to === null ? "∞" : num(r.to), num(r.rows), num(r.half_width), percent(r.coverage)])))];
}

function classesTold(doc, m) {
  const { labels, counts, left_out: leftOut } = m.confusion;
  const text = `On ${num(m.rows)} rows that it had not seen, ${percent(m.accuracy)} of the answers are right (± ${(100 * m.error).toFixed(1)}, one standard error). Someone who always said ${cell(m.most_frequent)} would be right for ${percent(m.baseline)}.`;
  return [
    el("p", null, text),
    el("h3", null, "What is taken for what"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "confusion matrix" },
      el("table", { class: "matrix", id: "confusion" }, el("caption", { class: "sr" }, "Rows: the true class. Columns: the answer. Cells: number of rows."),
        el("thead", null, el("tr", null, el("td", { class: "corner" }), labels.map((l) => el("th", { scope: "col" }, cell(l))))),
        el("tbody", null, labels.map((l, i) => el("tr", null, el("th", { scope: "row" }, cell(l)), counts[i].map((n, j) => shaded(el("td", { class: i === j ? "right" : n ? "wrong" : "none" }, String(n)), i === j ? "--c0" : "--c1", n / Math.max(1, counts[i].reduce((a, b) => a + b))))))))),
    el("p", { class: "note" }, `Down: the true class. Across: the answer.${leftOut ? ` The ${labels.length} classes with most mistakes; ${leftOut} more are left out.` : ""}`),
    el("h3", null, "Class by class"),
    table(["class", "found", "right when said", "F1", "rows"], m.per_class.slice(0, 30).map((c) => [cell(c.class), percent(c.recall), percent(c.precision), num(c.f1, 3), num(c.rows)])),
    el("p", { class: "note" }, "Found (recall): the share of the rows of a class that got this answer. Right when said (precision): the share of these answers that were right."),
    m.calibration ? [el("h3", null, "Can its probabilities be believed?"),
      el("p", null, `Where it said 70 %, seven in ten should come true: the points should lie on the dashed line. They are ${percent(m.calibration.gap)} away from it on average${m.log_loss === null ? "" : `; the log loss is ${num(m.log_loss, 3)}`}${m.roc_auc === null ? "" : `, the area under the ROC curve ${num(m.roc_auc, 4)}`}.`),
      calibrationChart(m.calibration)]
      : el("p", { class: "note" }, "This model gives labels and scores, and no probabilities."),
  ];
}

function shaded(node, name, share) {
  if (share > 0) node.style.backgroundColor = `color-mix(in srgb, var(${name}) ${Math.round(6 + 30 * share)}%, var(--paper))`;
  return node;
}

const FORMS = {
  steps: (n) => `Exact: ${n} level ${n === 1 ? "piece" : "pieces"}.`,
  lines: (n, isBent) => `Exact: ${n} ${isBent ? "" : "straight "}${n === 1 ? "piece" : "pieces"}${isBent ? ", straight lines of the score" : ""}.`,
  mixed: (n) => (n === 1 ? "Smooth: followed on a fine grid." : `${n} pieces with the model's own corners, smooth between them.`),
  grid: (n) => (n ? `${num(n)} pieces, followed on a fine grid.` : "Smooth: followed on a fine grid."),
  values: () => "Each value of the column.",
  dates: () => "At dates of the rows.",
};

function whatMatters(doc) {
  const found = doc.importances;
  const how = found && (found.by === "contribution"
    ? "The length of a bar is the mean size of what a column adds to a score or takes from it, as a share of all columns."
    : "The length of a bar is how far answers move when the cells of a column change places among rows, as a share of all columns.");
  const { curves, hardly } = doc.effects;
  const unit = curves.length && curves[0].says === "probability" ? "probability" : doc.task === "values" ? unitOf(doc) : "score";
  const several = curves.find((one) => one.curves.length > 1);
  return section("matters", "What matters to it?",
    found && [el("p", null, how), barsChart(found.columns.slice(0, 12).map((c) => ({ name: c.name, value: c.share, text: percent(c.share) })), "Importance of columns", { attributes: { id: "importances" } }),
      found.columns.length + found.left_out > 12 && el("p", { class: "note" }, `${num(found.columns.length + found.left_out - 12)} more columns are below these.`)],
    curves.length > 0 && [el("h3", null, "What each column does"),
      el("p", null, doc.task === "classes"
        ? `Each picture changes one column of a typical row and leaves all others as they are. It shows the ${unit}${several ? (several.curves.length < doc.classes.length ? " of the classes that change most" : " of each class") : doc.classes.length === 2 ? ` of ${cell(doc.classes[1])}` : ""}.`
        : `Each picture changes one column of a typical row and leaves all others as they are. It shows what the model then says of ${unitOf(doc)}.`,
      " The dashed line is the typical row itself; the gray bars show where rows are."),
      doc.what_if && el("details", null, el("summary", null, "The typical row"), el("p", { class: "small" }, doc.what_if.names.map((name, k) => `${name}: ${cell(doc.typical.cells[k])}`).slice(0, 40).join(" · "))),
      several && legendOf(several.curves.map((c, k) => ({ name: cell(c.of), kind: MARKS[k % 8], paint: color(k), dash: DASHES[k % 6] }))),
      el("div", { class: "grid2" }, curves.map((one) => el("div", null, el("h3", null, one.name), effectChart(one, unit, [FORMS[one.form](one.pieces, one.says === "probability"), one.missing && ` If it is missing: ${ifMissing(one)}.`])))),
      hardly.length > 0 && el("p", { class: "note" }, `Of this row, ${hardly.slice(0, 12).join(", ")}${hardly.length > 12 ? ` and ${hardly.length - 12} more` : ""} alone ${hardly.length === 1 ? "changes" : "change"} next to nothing.`)]);
}

function ifMissing(one) {
  const text = (value) => (one.says === "probability" ? percent(value) : num(value));
  if (one.missing.length === 1) return text(one.missing[0]);
  return one.missing.map((value, k) => `${cell(one.curves[k].of)} ${text(value)}`).join(", ");
}

function columnsTable(columns, label) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", { class: "columns" },
    el("thead", null, el("tr", null, ["column", "holds", "what was done, and why", "missing cells", "weight"].map((name, k) => el("th", { scope: "col", class: k > 2 ? "n" : null }, name)))),
    el("tbody", null, columns.map((c) => el("tr", null, el("th", { scope: "row" }, c.name), el("td", { class: "holds" }, c.kind),
      el("td", null, c.done.startsWith("dropped") ? [el("span", { class: "tag dropped" }, "dropped"), c.done.slice(8)] : [c.done, c.why && el("div", { class: "small" }, c.why)]),
      el("td", { class: "n", "data-name": "missing cells:" }, c.missing ? num(c.missing) : "–"), el("td", { class: "n", "data-name": "weight:" }, c.share === null ? "–" : percent(c.share)))))));
}

function columnsTold(doc) {
  const { columns, left_out: leftOut } = doc.columns;
  const used = columns.filter((c) => !c.done.startsWith("dropped"));
  // of many, those that weigh most
  const least = columns.length > 16 ? columns.map((c) => c.share || 0).sort((a, b) => b - a)[11] : -1;
  const shown = columns.filter((c) => (c.share || 0) >= least).slice(0, 16), rest = columns.filter((c) => !shown.includes(c));
  return section("columns", "What was done to each column?",
    el("p", null, `${used.length} of ${columns.length + leftOut} columns are used. A model takes numbers: this is how each column became some.`),
    columnsTable(shown, "table of columns"),
    rest.length > 0 && el("details", null, el("summary", null, `${rest.length} more columns`), columnsTable(rest, "table of more columns")),
    leftOut > 0 && el("p", { class: "note" }, `${num(leftOut)} more columns are left out here.`));
}

function regionsOpening(found) {
  return `The model is made of parts that each answer for a region of rows (here: the nearest ${found.word}). The rows of this report fall into ${found.count} of them.${found.left_out > 0 ? ` The ${found.regions.length} most visited are shown; ${percent(found.left_out)} of the rows are elsewhere.` : ""}`;
}

function regionsTold(doc) {
  const found = doc.regions;
  if (!found) return null;
  const order = found.regions.map((r) => r.number);
  const quality = (r) => (doc.task === "classes" ? `${percent(r.accuracy)} right, mostly ${cell(r.mostly)} (${percent(r.mostly_share, 0)})` : `off by ${num(r.rmse, 3)} (root mean square), answers around ${num(r.mean)}`);
  const grouped = found.nodes !== undefined;
  const opening = grouped
    ? `The model has no regions of its own: all of it answers for every row. These ${found.count} groups come from a few questions that were fitted to its answers; they tell ${percent(found.tells, 0)} of what the answers vary.`
    : regionsOpening(found);
  return section("regions", grouped ? "Who gets which answer?" : "Where does which part of it answer?",
    el("p", null, opening),
    found.map && mapChart(found.map, order, `Each mark is a row; its shape and color tell its ${grouped ? "group" : "region"}. The two directions are those that set them apart best.${doc.task === "classes" ? " Hollow marks: the answer was wrong." : ""}`),
    folded(found.regions.map((r, k) => el("div", { class: "region" }, el("span", { class: "dot" }, String(k + 1)), el("div", null,
      el("p", null, el("strong", null, percent(r.share)), ` of the rows (${num(r.rows)}): ${quality(r)}.`),
      r.rules && el("p", { class: "small" }, "Rows with ", el("strong", null, r.rules.join(", ")), "."),
      !grouped && r.stands_out.length > 0 && el("p", { class: "small" }, "Stands out: ", r.stands_out.map((s) => (s.is === "high" || s.is === "low" ? `${s.name} ${s.is} (mean ${bare(Number(s.mean.toPrecision(4)))})` : `${s.name} is ${cell(s.is)} (${percent(s.mean, 0)})`)).join("; "), "."),
      r.matters.length > 0 && el("p", { class: "small" }, "Matters most there: ", r.matters.map((one) => `${one.name} (${percent(one.share, 0)})`).join(", "), "."),
      el("details", null, el("summary", null, "Its most typical row"), el("p", { class: "small" }, doc.what_if ? doc.what_if.names.map((name, c) => `${name}: ${cell(r.typical[c])}`).slice(0, 30).join(" · ") : r.typical.map(cell).slice(0, 30).join(", ")))))), 5, grouped ? "more groups" : "more regions"));
}

// The first few, and the others behind a word.
function folded(nodes, most, name) {
  if (nodes.length <= most + 1) return nodes;
  return [nodes.slice(0, most), el("details", null, el("summary", null, `${nodes.length - most} ${name}`), nodes.slice(most))];
}

function chosenFrom(doc) {
  const front = doc.front;
  if (!front) return null;
  const card = el("div", { class: "card", id: "front-card", "aria-live": "polite" });
  const show = (p) => card.replaceChildren(...pointTold(p, front).filter(Boolean));
  const chosen = front.points.find((p) => p.is_chosen) || front.points[0] || front.peers[0];
  show(chosen);
  return section("front", "What was it chosen from?",
    el("p", null, front.points.length ? `The search tried ${num(front.tried)} candidates on rows that it held out, and fitted ${front.points.length} models to all rows. To the right is slower, up is better; nothing beats the models on the dashed line in both. Click a point, or reach it with the Tab key, to see what it is and how to get it.` : "The model beside alternatives that were measured."),
    front.peers.length > 0 && el("p", null, "Squares are measured on test rows that no model has seen, circles on the rows that the search held out: compare squares with squares."),
    frontChart(front, show), card);
}

function pointTold(p, front) {
  const title = el("h3", null, p.name || p.model, p.is_chosen ? " (chosen)" : "");
  const facts = el("p", { class: "small" }, `${percent(p.score, 2)}${p.error ? ` ± ${(100 * p.error).toFixed(2)}` : ""} (${p.on_front === undefined ? front.peers_score : front.score}) · ${micro(p.us)} a row · ${p.times_linear ? `${num(p.times_linear, 3)} × linear · ` : ""}${bytes(p.bytes)}`);
  if (p.on_front === undefined) return [title, facts];
  const parameters = p.settings.map((s) => el("p", { class: "small" }, el("strong", null, s.family), p.settings.length > 1 ? ` (weight ${num(s.weight, 3)})` : "", ": ", Object.entries(s.parameters).map(([k, v]) => `${k} = ${v}`).join(", ") || "no settings"));
  return [title, facts, ...parameters,
    p.command ? copyable("Command", p.command) : el("p", { class: "small" }, "No budget alone chooses this one: inside each budget that holds it, another model was better."),
    p.python && copyable("Python", p.python)];
}

function costTold(doc) {
  const c = doc.cost;
  const rows = [["this model", num(c.multiply_adds), `${num(c.times_linear, 3)} ×`, bytes(c.bytes), micro(c.us)],
    ["a linear model on the same columns", num(c.linear.multiply_adds), "1 ×", bytes(c.linear.bytes), "–"]];
  const peers = c.peers.length > 0 && [el("h3", null, "Beside alternatives"),
    table(["model", "score", "µs a row", "one row", "size", "fit"], c.peers.map((p) => [p.name, percent(p.score, 2), num(p.us_per_row, 3), micro(p.single_row_us), bytes(p.bytes), p.fit_seconds === null ? "–" : `${num(p.fit_seconds, 3)} s`])),
    el("p", { class: "note" }, "All saw the same encoded rows; scores are of test rows, times of one thread on the machine that made this report.")];
  return section("cost", "What does an answer cost?",
    table(["", "multiply-adds", "work", "size", "time in a batch"], rows, (r) => (r === 0 ? "ours" : null)),
    el("p", { class: "note" }, `${c.encoder_us === null ? "" : `Turning raw columns into numbers takes ${micro(c.encoder_us)} a row on top, in Python. `}${c.single_us === null ? "" : `A single raw row takes ${micro(c.single_us)} through compile(). `}Times were measured on the machine that made this report, one thread.`, el("span", { id: "page-time" })),
    peers);
}

function useIt(doc) {
  return section("use", "How do I use it?", doc.lines.map((one) => copyable(one.title, one.text)));
}

function howMade(doc) {
  const m = doc.made;
  const rows = [["method", m.method], ["settings", Object.entries(m.parameters).map(([k, v]) => `${k}=${v}`).join(", ") || "all as they come"], ["seed", cell(m.seed)],
    ["rows", `${m.training_rows === null ? "" : `${num(m.training_rows)} for training, `}${num(m.judging_rows)} that judge`],
    ["hash of the rows that judge", m.hash], ["versions", Object.entries(m.versions).filter(([, v]) => v).map(([k, v]) => `${k} ${v}`).join(", ")], ["made", `${m.when}, ${m.machine}`]];
  return section("made", "How was this made?", el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table: origin" }, el("table", null, el("tbody", null, rows.map(([k, v]) => el("tr", null, el("th", { scope: "row" }, k), el("td", { class: k.startsWith("hash") ? "hash" : null }, v)))))));
}
