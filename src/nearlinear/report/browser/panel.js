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
    this.regions = regions; // of an average, the member that has some
    this.doc = doc;
    this.classes = doc.classes;
    this.hasChances = doc.what_if.probabilities;
  }

  scores(rows) {
    const found = this.classes ? this.model.decisionFunction(rows) : this.model.predict(rows);
    return Array.from(found, (one) => (typeof one === "number" ? [one] : Array.from(one)));
  }

  chances(rows) {
    return this.hasChances
      ? Array.from(this.model.predictProba(rows), (one) => Array.from(one))
      : null;
  }

  // The number of the class, or 1 where a value is at least `wanted`, else 0.
  labels(rows, wanted) {
    const all = this.scores(rows);
    if (!this.classes) return all.map(([value]) => Number(value >= wanted));
    if (all[0].length === 1) return all.map(([score]) => Number(score > 0));
    return all.map((scores) => scores.indexOf(Math.max(...scores)));
  }
}

const REST = 60; // milliseconds

function whatIf(doc, model, regions) {
  const setup = doc.what_if,
    asker = new Asker(model, doc, regions);
  const first = Math.min(1, setup.rows.length - 1);
  let row = setup.rows[first].row.slice();
  let wanted = doc.task === "values" ? doc.measures.median : null;
  const answer = el("div", { class: "answer", id: "answer", "aria-live": "polite" });
  const fields = setup.controls.map((one) =>
    control(
      one,
      () => row,
      (value) => {
        row[one.column] = value;
        refresh();
      },
    ),
  );
  const status = el("p", { class: "small error", role: "status" });

  const take = (cells) => {
    row = cells.slice();
    fields.forEach((one) => one.show());
    refresh();
  };
  const picker = el(
    "select",
    { id: "start-row", onchange: (event) => take(setup.rows[Number(event.target.value)].row) },
    setup.rows.map((one, k) =>
      el(
        "option",
        { value: String(k) },
        one.name +
          (one.truth === undefined
            ? ""
            : ` (in truth ${typeof one.truth === "number" ? num(one.truth) : cell(one.truth)})`),
      ),
    ),
  );
  picker.value = String(first);

  // The answer follows at once; reasons and changes, which take more, when the hand rests.
  let waiting = false,
    resting = 0;
  const head = el("div", { class: "answer-head" }),
    more = el("div", { class: "answer-more" });
  answer.append(head, more);
  function refresh() {
    answer.dataset.busy = "yes";
    clearTimeout(resting);
    resting = setTimeout(
      () =>
        guarded(more, () =>
          grounds(asker, row, doc, {
            wanted,
            setWanted: (v) => {
              wanted = v;
              refresh();
            },
            take,
          }),
        ),
      REST,
    );
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      guarded(head, () => said(asker, row, doc));
    });
  }
  function guarded(place, make) {
    try {
      place.replaceChildren(...[make()].flat(3).filter(Boolean));
    } catch (error) {
      head.replaceChildren(el("p", { class: "problem" }, error.message));
      more.replaceChildren();
    }
    if (place === more) answer.dataset.busy = "no";
  }

  const texts = new Set(
    setup.controls.filter((one) => one.kind === "text").map((one) => one.column),
  );
  const box = el("textarea", {
    id: "paste",
    "aria-label": "A row as a CSV line or JSON",
    placeholder: `${setup.names.slice(0, 4).join(",")}…`,
  });
  const paste = el(
    "details",
    { class: "paste" },
    el("summary", null, "Paste a row of your own"),
    el(
      "p",
      { class: "small" },
      "A line of CSV in the order of the columns (with a header line in any order), or JSON: a list or an object by name.",
    ),
    box,
    el(
      "button",
      {
        type: "button",
        id: "use-paste",
        onclick: () => {
          try {
            take(parsedRow(box.value, setup.names, row, texts));
            status.textContent = "";
          } catch (error) {
            status.textContent = error.message;
          }
        },
      },
      "Use this row",
    ),
    status,
  );

  refresh();
  return el(
    "div",
    { class: "panel", id: "panel" },
    el("div", { class: "bar-top" }, el("label", { for: "start-row" }, "Begin with"), picker),
    el(
      "div",
      { class: "halves" },
      el(
        "div",
        null,
        el("h3", null, "A row"),
        el(
          "div",
          { class: "controls", tabindex: "0", role: "group", "aria-label": "columns of the row" },
          fields.map((one) => one.node),
        ),
        paste,
      ),
      answer,
    ),
  );
}

// --- what is said of the row ---------------------------------------------------------------------

function shownOf(scores, doc) {
  return !doc.classes
    ? 0
    : scores.length === 1
      ? Number(scores[0] > 0)
      : scores.indexOf(Math.max(...scores));
}

function said(asker, row, doc) {
  const scores = asker.scores([row])[0],
    chances = asker.chances([row]),
    shown = shownOf(scores, doc);
  const label = doc.classes ? cell(doc.classes[shown]) : num(scores[0], 6);
  const beside = doc.classes
    ? [
        chances && `${percent(chances[0][shown])} sure`,
        `score ${num(scores[Math.min(shown, scores.length - 1)], 5)}`,
      ]
        .filter(Boolean)
        .join(" · ")
    : unitOf(doc);
  return [
    el("h3", null, "The answer"),
    el("div", { class: "big", id: "answer-label" }, label),
    el("p", { class: "facts" }, beside, facts(asker, row, doc)),
    el(
      "span",
      { class: "sr", id: "raw-answer", "aria-hidden": "true" },
      JSON.stringify({ scores, chances: chances && chances[0] }),
    ),
  ];
}

function grounds(asker, row, doc, hands) {
  const scores = asker.scores([row])[0],
    chances = asker.chances([row]),
    shown = shownOf(scores, doc);
  const bars =
    chances &&
    doc.classes.length <= 12 &&
    barsChart(
      doc.classes.map((c, k) => ({
        name: cell(c),
        value: chances[0][k],
        text: percent(chances[0][k]),
        strong: k === shown,
      })),
      "Probability of each class",
      { most: 1, table: false, attributes: { id: "chances" } },
    );
  return [
    bars,
    reasons(asker, row, doc, shown, runnerUp(scores, shown)),
    changes(asker, row, doc, hands),
  ];
}

function facts(asker, row, doc) {
  const found = [];
  const number = doc.regions && regionOf(asker.regions, row, doc.regions.nodes);
  if (Number.isInteger(number)) {
    const place = doc.regions.regions.findIndex((r) => r.number === number);
    found.push(
      place >= 0
        ? ` · ${doc.regions.nodes ? "group" : "region"} ${place + 1}`
        : " · a rarely visited region",
    );
  }
  if (doc.what_if.support) {
    try {
      const score = Number(asker.model.supportScore([row])[0]);
      found.push(
        ` · seen before? ${score > 0.5 ? "yes" : score > 0.05 ? "partly" : "hardly"} (${num(score, 2)} of 1)`,
      );
    } catch {
      /* a model whose file cannot tell */
    }
  }
  return el("span", { id: "facts-more" }, found.join(""));
}

// The number of the region, or of the group that questions lead to; a missing cell is a no.
function regionOf(model, row, nodes) {
  if (!nodes) {
    try {
      return model.regions([row])[0].region;
    } catch {
      return null;
    }
  }
  let node = nodes[0];
  while (node.group === undefined) {
    const value = row[node.column];
    const isYes =
      typeof node.value === "string"
        ? String(value) === node.value
        : value !== null && Number(value) <= node.value;
    node = nodes[isYes ? node.yes : node.no];
  }
  return node.group;
}
