// How good the model is.

function unitOf(doc) {
  return doc.target || (doc.task === "classes" ? "the answer" : "the value");
}

function howGood(doc) {
  const m = doc.measures;
  if (doc.task === "classes") return section("good", "How good is it?", classesTold(doc, m));
  const unit = unitOf(doc);
  return section(
    "good",
    "How good is it?",
    el(
      "p",
      null,
      `On ${num(m.rows)} rows that it had not seen, an answer is off by ${num(m.mae, 3)} on average. The root mean square of errors is ${num(m.rmse, 3)}; someone who always said the mean would have ${num(m.baseline, 3)}.`,
    ),
    el(
      "div",
      { class: "grid2" },
      el(
        "div",
        null,
        el("h3", null, "Predicted and true"),
        scatterChart(m, unit),
        el("p", { class: "note" }, "On the dashed line the answer is right."),
      ),
      el(
        "div",
        null,
        el("h3", null, "Errors"),
        histogramChart(m.residuals, "predicted less true"),
        el(
          "p",
          { class: "note" },
          "A good model has errors around 0, as often too high as too low.",
        ),
      ),
    ),
    m.intervals && intervalsTold(m.intervals),
  );
}

function intervalsTold(found) {
  return [
    el("h3", null, "Do its intervals hold?"),
    el(
      "p",
      null,
      "The model can give an interval in place of a number. This is how often the true value lay in it, for the share that was asked for.",
    ),
    table(
      ["asked for", "held", "mean width"],
      found.levels.map((one) => [percent(one.asked, 0), percent(one.held), num(one.width, 4)]),
    ),
    found.regions.length > 1 &&
      el(
        "details",
        null,
        el("summary", null, "By ranges of the answer, at 90 %"),
        table(
          ["answers from", "to", "rows", "half width", "held"],
          found.regions.map((r) => [
            r.from === null ? "−∞" : num(r.from),
            r.to === null ? "∞" : num(r.to),
            num(r.rows),
            num(r.half_width),
            percent(r.coverage),
          ]),
        ),
      ),
  ];
}

function classesTold(doc, m) {
  const { labels, counts, left_out: leftOut } = m.confusion;
  const text = `On ${num(m.rows)} rows that it had not seen, ${percent(m.accuracy)} of the answers are right (± ${(100 * m.error).toFixed(1)}, one standard error). Someone who always said ${cell(m.most_frequent)} would be right for ${percent(m.baseline)}.`;
  return [
    el("p", null, text),
    el("h3", null, "What is taken for what"),
    confusionTable(labels, counts),
    el(
      "p",
      { class: "note" },
      `Down: the true class. Across: the answer.${leftOut ? ` The ${labels.length} classes with most mistakes; ${leftOut} more are left out.` : ""}`,
    ),
    el("h3", null, "Class by class"),
    table(
      ["class", "found", "right when said", "F1", "rows"],
      m.per_class
        .slice(0, 30)
        .map((c) => [
          cell(c.class),
          percent(c.recall),
          percent(c.precision),
          num(c.f1, 3),
          num(c.rows),
        ]),
    ),
    el(
      "p",
      { class: "note" },
      "Found (recall): the share of the rows of a class that got this answer. Right when said (precision): the share of these answers that were right.",
    ),
    m.calibration
      ? [
          el("h3", null, "Can its probabilities be believed?"),
          el(
            "p",
            null,
            `Where it said 70 %, seven in ten should come true: the points should lie on the dashed line. They are ${percent(m.calibration.gap)} away from it on average${m.log_loss === null ? "" : `; the log loss is ${num(m.log_loss, 3)}`}${m.roc_auc === null ? "" : `, the area under the ROC curve ${num(m.roc_auc, 4)}`}.`,
          ),
          calibrationChart(m.calibration),
        ]
      : el("p", { class: "note" }, "This model gives labels and scores, and no probabilities."),
  ];
}

function confusionTable(labels, counts) {
  const total = (row) =>
    Math.max(
      1,
      row.reduce((sum, n) => sum + n),
    );
  const kind = (n, isRight) => (isRight ? "right" : n ? "wrong" : "none");
  const one = (n, isRight, row) =>
    shaded(
      el("td", { class: kind(n, isRight) }, String(n)),
      isRight ? "--c0" : "--c1",
      n / total(row),
    );
  return tableOf({
    label: "confusion matrix",
    attributes: { class: "matrix", id: "confusion" },
    caption: "Rows: the true class. Columns: the answer. Cells: number of rows.",
    head: [el("td", { class: "corner" }), labels.map((l) => el("th", { scope: "col" }, cell(l)))],
    rows: labels.map((l, i) => [
      el("th", { scope: "row" }, cell(l)),
      counts[i].map((n, j) => one(n, i === j, counts[i])),
    ]),
  });
}

function shaded(node, name, share) {
  if (share > 0)
    node.style.backgroundColor = `color-mix(in srgb, var(${name}) ${Math.round(6 + 30 * share)}%, var(--paper))`;
  return node;
}
