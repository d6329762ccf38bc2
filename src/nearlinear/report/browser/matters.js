// Which columns matter to the model, and how.

const FORMS = {
  numbers: "200 equally spaced points.",
  values: "Each value of the column.",
  dates: "Dates of the table.",
};

function whatMatters(doc) {
  const found = doc.importances;
  const how =
    found &&
    (found.by === "contribution"
      ? "The length of a bar is how much a column moves scores up or down, beside what it adds on average; as a share of all columns."
      : "The length of a bar is how far answers move when the cells of a column change places among rows, as a share of all columns.");
  const { curves, hardly } = doc.effects;
  const unit =
    curves.length && curves[0].says === "probability"
      ? "probability"
      : doc.task === "values"
        ? unitOf(doc)
        : "score";
  const several = curves.find((one) => one.curves.length > 1);
  return section(
    "matters",
    "What matters to it?",
    found && [
      el("p", null, how),
      barsChart(
        found.columns
          .slice(0, 12)
          .map((c) => ({ name: c.name, value: c.share, text: percent(c.share) })),
        "Importance of columns",
        { attributes: { id: "importances" } },
      ),
      found.columns.length + found.left_out > 12 &&
        el(
          "p",
          { class: "note" },
          `${num(found.columns.length + found.left_out - 12)} more columns are below these.`,
        ),
    ],
    curves.length > 0 && [
      el("h3", null, "What each column does"),
      el(
        "p",
        null,
        doc.task === "classes"
          ? `Each picture changes one column of a typical row and leaves all others as they are. It shows the ${unit}${several ? (several.curves.length < doc.classes.length ? " of the classes that change most" : " of each class") : doc.classes.length === 2 ? ` of ${cell(doc.classes[1])}` : ""}.`
          : `Each picture changes one column of a typical row and leaves all others as they are. It shows what the model then says of ${unitOf(doc)}.`,
        " The dashed line is the typical row itself; the gray bars show where rows are.",
      ),
      doc.what_if &&
        el(
          "details",
          null,
          el("summary", null, "The typical row"),
          el(
            "p",
            { class: "small" },
            doc.what_if.names
              .map((name, k) => `${name}: ${cell(doc.typical.cells[k])}`)
              .slice(0, 40)
              .join(" · "),
          ),
        ),
      several &&
        legendOf(
          several.curves.map((c, k) => ({
            name: cell(c.of),
            kind: MARKS[k % 8],
            paint: color(k),
            dash: DASHES[k % 6],
          })),
        ),
      el(
        "div",
        { class: "grid2" },
        curves.map((one) =>
          el(
            "div",
            null,
            el("h3", null, one.name),
            effectChart(one, unit, [
              FORMS[one.form],
              one.missing && ` If it is missing: ${ifMissing(one)}.`,
            ]),
          ),
        ),
      ),
      hardly.length > 0 &&
        el(
          "p",
          { class: "note" },
          `Of this row, ${hardly.slice(0, 12).join(", ")}${hardly.length > 12 ? ` and ${hardly.length - 12} more` : ""} alone ${hardly.length === 1 ? "changes" : "change"} next to nothing.`,
        ),
    ],
  );
}

function ifMissing(one) {
  const text = (value) => (one.says === "probability" ? percent(value) : num(value));
  if (one.missing.length === 1) return text(one.missing[0]);
  return one.missing.map((value, k) => `${cell(one.curves[k].of)} ${text(value)}`).join(", ");
}

function columnsTable(columns, label) {
  const names = ["column", "holds", "what was done, and why", "missing cells", "weight"];
  const done = (c) =>
    c.done.startsWith("dropped")
      ? [el("span", { class: "tag dropped" }, "dropped"), c.done.slice(8)]
      : [c.done, c.why && el("div", { class: "small" }, c.why)];
  const number = (name, text) => el("td", { class: "n", "data-name": name }, text);
  return tableOf({
    label,
    attributes: { class: "columns" },
    head: names.map((name, k) => el("th", { scope: "col", class: k > 2 ? "n" : null }, name)),
    rows: columns.map((c) => [
      el("th", { scope: "row" }, c.name),
      el("td", { class: "holds" }, c.kind),
      el("td", null, done(c)),
      number("missing cells:", c.missing ? num(c.missing) : "–"),
      number("weight:", c.share === null ? "–" : percent(c.share)),
    ]),
  });
}

function columnsTold(doc) {
  const { columns, left_out: leftOut } = doc.columns;
  const used = columns.filter((c) => !c.done.startsWith("dropped"));
  // of many, those that weigh most
  const least =
    columns.length > 16 ? columns.map((c) => c.share || 0).sort((a, b) => b - a)[11] : -1;
  const shown = columns.filter((c) => (c.share || 0) >= least).slice(0, 16),
    rest = columns.filter((c) => !shown.includes(c));
  return section(
    "columns",
    "What was done to each column?",
    el(
      "p",
      null,
      `${used.length} of ${columns.length + leftOut} columns are used. A model takes numbers: this is how each column became some.`,
    ),
    columnsTable(shown, "table of columns"),
    rest.length > 0 &&
      el(
        "details",
        null,
        el("summary", null, `${rest.length} more columns`),
        columnsTable(rest, "table of more columns"),
      ),
    leftOut > 0 && el("p", { class: "note" }, `${num(leftOut)} more columns are left out here.`),
  );
}
