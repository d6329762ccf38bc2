// The sections of the report, in the order in which they are read.

function section(id, title, ...children) {
  return el(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title),
    children,
  );
}

function inShort(doc) {
  return el(
    "section",
    { id: "short", "aria-labelledby": "title" },
    el("h1", { id: "title" }, doc.title),
    el("p", { class: "lead asked" }, doc.asked),
    el("p", { class: "lead", id: "found" }, doc.found),
    el(
      "dl",
      { class: "tiles" },
      doc.headline.map((one, k) =>
        el(
          "div",
          null,
          el("dt", null, one.label),
          el(
            "dd",
            null,
            el("div", { class: k ? "value" : "value first" }, one.value),
            el("div", { class: "small" }, one.note),
          ),
        ),
      ),
    ),
    !doc.is_own_judge &&
      el(
        "p",
        { class: "note" },
        "Figures of accuracy come from a model of the same making that had not seen these rows. The model shown here was then fitted to all rows.",
      ),
  );
}

function regionsOpening(found) {
  return `The model is made of parts that each answer for a region of rows (here: the nearest ${found.word}). The rows of this report fall into ${found.count} of them.${found.left_out > 0 ? ` The ${found.regions.length} most visited are shown; ${percent(found.left_out)} of the rows are elsewhere.` : ""}`;
}

function regionsTold(doc) {
  const found = doc.regions;
  if (!found) return null;
  const order = found.regions.map((r) => r.number);
  const quality = (r) =>
    doc.task === "classes"
      ? `${percent(r.accuracy)} right, mostly ${cell(r.mostly)} (${percent(r.mostly_share, 0)})`
      : `off by ${num(r.rmse, 3)} (root mean square), answers around ${num(r.mean)}`;
  const grouped = found.nodes !== undefined;
  const opening = grouped
    ? `The model has no regions of its own: all of it answers for every row. These ${found.count} groups come from a few questions that were fitted to its answers; they tell ${percent(found.tells, 0)} of what the answers vary.`
    : regionsOpening(found);
  return section(
    "regions",
    grouped ? "Who gets which answer?" : "Where does which part of it answer?",
    el("p", null, opening),
    found.map &&
      mapChart(
        found.map,
        order,
        `Each mark is a row; its shape and color tell its ${grouped ? "group" : "region"}. The two directions are those that set them apart best.${doc.task === "classes" ? " Hollow marks: the answer was wrong." : ""}`,
      ),
    folded(
      found.regions.map((r, k) =>
        el(
          "div",
          { class: "region" },
          el("span", { class: "dot" }, String(k + 1)),
          el(
            "div",
            null,
            el(
              "p",
              null,
              el("strong", null, percent(r.share)),
              ` of the rows (${num(r.rows)}): ${quality(r)}.`,
            ),
            r.rules &&
              el(
                "p",
                { class: "small" },
                "Rows with ",
                el("strong", null, r.rules.join(", ")),
                ".",
              ),
            !grouped &&
              r.stands_out.length > 0 &&
              el(
                "p",
                { class: "small" },
                "Stands out: ",
                r.stands_out
                  .map((s) =>
                    s.is === "high" || s.is === "low"
                      ? `${s.name} ${s.is} (mean ${bare(Number(s.mean.toPrecision(4)))})`
                      : `${s.name} is ${cell(s.is)} (${percent(s.mean, 0)})`,
                  )
                  .join("; "),
                ".",
              ),
            r.matters.length > 0 &&
              el(
                "p",
                { class: "small" },
                "Matters most there: ",
                r.matters.map((one) => `${one.name} (${percent(one.share, 0)})`).join(", "),
                ".",
              ),
            el(
              "details",
              null,
              el("summary", null, "Its most typical row"),
              el(
                "p",
                { class: "small" },
                doc.what_if
                  ? doc.what_if.names
                      .map((name, c) => `${name}: ${cell(r.typical[c])}`)
                      .slice(0, 30)
                      .join(" · ")
                  : r.typical.map(cell).slice(0, 30).join(", "),
              ),
            ),
          ),
        ),
      ),
      5,
      grouped ? "more groups" : "more regions",
    ),
  );
}

// The first few, and the others behind a word.
function folded(nodes, most, name) {
  if (nodes.length <= most + 1) return nodes;
  return [
    nodes.slice(0, most),
    el("details", null, el("summary", null, `${nodes.length - most} ${name}`), nodes.slice(most)),
  ];
}

function chosenFrom(doc) {
  const front = doc.front;
  if (!front) return null;
  const card = el("div", { class: "card", id: "front-card", "aria-live": "polite" });
  const show = (p) => card.replaceChildren(...pointTold(p, front).filter(Boolean));
  const chosen = front.points.find((p) => p.is_chosen) || front.points[0] || front.peers[0];
  show(chosen);
  return section(
    "front",
    "What was it chosen from?",
    el(
      "p",
      null,
      front.points.length
        ? `The search tried ${num(front.tried)} candidates on rows that it held out, and fitted ${front.points.length} models to all rows. To the right is slower, up is better; nothing has both a lower held-out loss and less time than the models on the dashed line. Click a point, or reach it with the Tab key, to see what it is and how to get it.`
        : "The model beside alternatives that were measured.",
    ),
    front.peers.length > 0 &&
      el(
        "p",
        null,
        "Squares are measured on test rows that no model has seen, circles on the rows that the search held out: compare squares with squares.",
      ),
    frontChart(front, show),
    card,
  );
}

function pointTold(p, front) {
  const title = el("h3", null, p.name || p.model, p.is_chosen ? " (chosen)" : "");
  const facts = el(
    "p",
    { class: "small" },
    `${percent(p.score, 2)}${p.error ? ` ± ${(100 * p.error).toFixed(2)}` : ""} (${p.on_front === undefined ? front.peers_score : front.score}) · ${micro(p.us)} a row · ${p.times_linear ? `${num(p.times_linear, 3)} × linear · ` : ""}${bytes(p.bytes)}`,
  );
  if (p.on_front === undefined) return [title, facts];
  const parameters = p.settings.map((s) =>
    el(
      "p",
      { class: "small" },
      el("strong", null, s.family),
      p.settings.length > 1 ? ` (weight ${num(s.weight, 3)})` : "",
      ": ",
      Object.entries(s.parameters)
        .map(([k, v]) => `${k} = ${v}`)
        .join(", ") || "no settings",
    ),
  );
  return [
    title,
    facts,
    ...parameters,
    p.command
      ? copyable("Command", p.command)
      : el(
          "p",
          { class: "small" },
          "No budget alone chooses this one: inside each budget that holds it, another model was better.",
        ),
    p.python && copyable("Python", p.python),
  ];
}

function costTold(doc) {
  const c = doc.cost;
  const rows = [
    [
      "this model",
      num(c.multiply_adds),
      `${num(c.times_linear, 3)} ×`,
      bytes(c.bytes),
      micro(c.us),
    ],
    [
      "a linear model on the same columns",
      num(c.linear.multiply_adds),
      "1 ×",
      bytes(c.linear.bytes),
      "–",
    ],
  ];
  const peers = c.peers.length > 0 && [
    el("h3", null, "Beside alternatives"),
    table(
      ["model", "score", "µs a row", "one row", "size", "fit"],
      c.peers.map((p) => [
        p.name,
        percent(p.score, 2),
        num(p.us_per_row, 3),
        micro(p.single_row_us),
        bytes(p.bytes),
        p.fit_seconds === null ? "–" : `${num(p.fit_seconds, 3)} s`,
      ]),
    ),
    el(
      "p",
      { class: "note" },
      "All saw the same encoded rows; scores are of test rows, times of one thread on the machine that made this report.",
    ),
  ];
  return section(
    "cost",
    "What does an answer cost?",
    table(["", "multiply-adds", "work", "size", "time in a batch"], rows, (r) =>
      r === 0 ? "ours" : null,
    ),
    el(
      "p",
      { class: "note" },
      `${c.encoder_us === null ? "" : `Turning raw columns into numbers takes ${micro(c.encoder_us)} a row on top, in Python. `}${c.single_us === null ? "" : `A single raw row takes ${micro(c.single_us)} through compile(). `}Times were measured on the machine that made this report, one thread.`,
      el("span", { id: "page-time" }),
    ),
    peers,
  );
}

function useIt(doc) {
  return section(
    "use",
    "How do I use it?",
    doc.lines.map((one) => copyable(one.title, one.text)),
  );
}

function howMade(doc) {
  const m = doc.made;
  const rows = [
    ["method", m.method],
    [
      "settings",
      Object.entries(m.parameters)
        .map(([k, v]) => `${k}=${v}`)
        .join(", ") || "all as they come",
    ],
    ["seed", cell(m.seed)],
    [
      "rows",
      `${m.training_rows === null ? "" : `${num(m.training_rows)} for training, `}${num(m.judging_rows)} that judge`,
    ],
    ["hash of the rows that judge", m.hash],
    [
      "versions",
      Object.entries(m.versions)
        .filter(([, v]) => v)
        .map(([k, v]) => `${k} ${v}`)
        .join(", "),
    ],
    ["made", `${m.when}, ${m.machine}`],
  ];
  return section(
    "made",
    "How was this made?",
    tableOf({
      label: "table: origin",
      rows: rows.map(([k, v]) => [
        el("th", { scope: "row" }, k),
        el("td", { class: k.startsWith("hash") ? "hash" : null }, v),
      ]),
    }),
  );
}
