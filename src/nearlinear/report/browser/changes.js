// The nearest change of one column that flips the answer.

const GRID = 64,
  HALVINGS = 40;

function changes(asker, row, doc, { wanted, setWanted, take }) {
  const before = asker.labels([row], wanted)[0];
  const found = [];
  for (const one of doc.what_if.controls) {
    const change =
      one.kind === "number"
        ? ofNumber(asker, row, one, before, wanted)
        : one.kind === "text"
          ? ofText(asker, row, one, before, wanted)
          : null;
    if (change) found.push(change);
  }
  found.sort((a, b) => a.far - b.far);
  const title = doc.classes
    ? "The nearest change that flips the answer"
    : "The nearest change that crosses a value";
  const list = found.slice(0, 4).map((c) =>
    el(
      "li",
      null,
      el(
        "span",
        null,
        `${c.name}: ${bare(row[c.column])} → ${typeof c.value === "number" ? bare(Number(c.value.toPrecision(6))) : c.value}`,
        doc.classes ? ` gives ${cell(doc.classes[c.label])}` : "",
      ),
      el(
        "button",
        {
          type: "button",
          class: "quiet",
          "aria-label": `Try ${c.name} ${c.value}`,
          onclick: () => {
            const next = row.slice();
            next[c.column] = c.value;
            take(next);
          },
        },
        "Try",
      ),
    ),
  );
  const ask =
    !doc.classes &&
    el(
      "p",
      { class: "small" },
      el("label", { for: "wanted" }, "Cross the value "),
      el("input", {
        id: "wanted",
        type: "number",
        step: "any",
        value: String(wanted),
        onchange: (event) => {
          if (event.target.value !== "") setWanted(Number(event.target.value));
        },
      }),
    );
  return [
    el("h4", null, title),
    ask,
    list.length
      ? el("ul", { class: "changes", id: "changes" }, list)
      : el(
          "p",
          { class: "small" },
          "No single column does it inside the range of the rows of this report.",
        ),
  ].filter(Boolean);
}

function withCell(row, column, value) {
  const next = row.slice();
  next[column] = value;
  return next;
}

function ofNumber(asker, row, one, before, wanted) {
  const here = row[one.column],
    width = one.high - one.low || 1;
  const fixed =
    one.values ||
    (one.is_whole && width <= 200
      ? Array.from({ length: width + 1 }, (_, k) => one.low + k)
      : null);
  const grid = fixed || Array.from({ length: GRID + 1 }, (_, k) => one.low + (width * k) / GRID);
  const labels = asker.labels(
    grid.map((value) => withCell(row, one.column, value)),
    wanted,
  );
  let best = null;
  grid.forEach((value, k) => {
    const far = here === null ? 0 : Math.abs(value - here);
    if (labels[k] !== before && (best === null || far < best.far))
      best = { value, far, label: labels[k] };
  });
  if (best === null) return null;
  if (!fixed && here !== null) {
    let inside = here,
      outside = best.value,
      label = best.label;
    for (let k = 0; k < HALVINGS; k++) {
      const half = (inside + outside) / 2,
        found = asker.labels([withCell(row, one.column, half)], wanted)[0];
      if (found === before) inside = half;
      else {
        outside = half;
        label = found;
      }
    }
    best = { value: shortBetween(inside, outside), far: Math.abs(outside - here), label };
    if (asker.labels([withCell(row, one.column, best.value)], wanted)[0] === before)
      best.value = outside;
  }
  return {
    name: one.name,
    column: one.column,
    value: best.value,
    label: best.label,
    far: best.far / (one.spread || width),
  };
}

// The number of fewest digits on the far side of a border.
function shortBetween(inside, outside) {
  for (let digits = 2; digits < 16; digits++) {
    const unit = 10 ** (Math.floor(Math.log10(Math.abs(outside) || 1)) - digits + 1);
    const value = Number(
      (
        (outside > inside ? Math.ceil(outside / unit) : Math.floor(outside / unit)) * unit
      ).toPrecision(digits + 1),
    );
    if (Math.abs(value - outside) <= 0.02 * Math.abs(outside - inside) + 2e-3 * Math.abs(outside))
      return value;
  }
  return outside;
}

function ofText(asker, row, one, before, wanted) {
  const values = one.values.filter((value) => value !== row[one.column]);
  if (!values.length) return null;
  const labels = asker.labels(
    values.map((value) => withCell(row, one.column, value)),
    wanted,
  );
  const k = labels.findIndex((label) => label !== before);
  return k < 0
    ? null
    : { name: one.name, column: one.column, value: values[k], label: labels[k], far: 1 };
}
