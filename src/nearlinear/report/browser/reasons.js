// What speaks for an answer: parts of the score that columns add.

// The class that comes second, where there are several scores.
function runnerUp(scores, shown) {
  if (scores.length === 1) return null;
  return scores.reduce(
    (best, score, k) => (k !== shown && (best === null || score > scores[best]) ? k : best),
    null,
  );
}

function reasons(asker, row, doc, shown, second) {
  const found =
    ofColumns(asker, row, doc, shown, second) || besideTypical(asker, row, doc, shown, second);
  const flip = doc.classes && second === null && shown === 0 ? -1 : 1;
  const entries = found.parts
    .map((e) => ({ ...e, value: flip * e.value }))
    .filter((e) => Math.abs(e.value) > 1e-12)
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const against = second === null ? "" : `, against ${cell(doc.classes[second])}`;
  const title = el(
    "h4",
    null,
    doc.classes ? `What speaks for ${cell(doc.classes[shown])}${against}` : "What moves it",
  );
  if (!entries.length)
    return [
      title,
      el("p", { class: "small" }, "This is the typical row: others are compared with it."),
    ];
  const kept = entries.slice(0, 8),
    rest = entries.slice(8).reduce((sum, e) => sum + e.value, 0);
  if (entries.length > 8) kept.push({ name: `${entries.length - 8} others`, value: rest });
  kept.forEach((e) => {
    e.text = (e.value > 0 ? "+" : "") + num(e.value, 3);
  });
  const what = !doc.classes ? unitOf(doc) : second === null ? "score" : "lead in score";
  const total = num(flip * (found.base + found.parts.reduce((sum, e) => sum + e.value, 0)), 4);
  return [
    title,
    barsChart(kept, "Contributions to the score", {
      signed: true,
      table: false,
      attributes: { id: "contributions" },
    }),
    el(
      "p",
      { class: "small" },
      found.isTypical
        ? `From the typical row, whose ${what} is ${num(flip * found.base, 4)}, to this one (${total}): what each column adds, as a mean over all orders (Shapley values). The parts sum to the difference exactly.`
        : `Columns add these parts to ${num(flip * found.base, 4)}, where the ${what} begins; together ${total}, exactly.`,
    ),
  ];
}

// The model's own contributions, where they are those of columns that an encoder has centered.
function ofColumns(asker, row, doc, shown, second) {
  if (!doc.what_if.own_parts) return null;
  const { names, values, base } = asker.model.contributions([row])[0];
  if (second === null) return { parts: names.map((name, k) => ({ name, value: values[k] })), base };
  const parts = names.map((name, k) => ({ name, value: values[shown][k] - values[second][k] }));
  return { parts, base: base[shown] - base[second] };
}

// Of all other models: what columns add on the way from the typical row to this one.
const MOST_EXACT = 9,
  ORDERS = 48;

function besideTypical(asker, row, doc, shown, second) {
  const typical = doc.what_if.rows[0].row,
    columns = row.map((_, k) => k).filter((k) => row[k] !== typical[k]);
  const mixed = (isOurs) => {
    const next = typical.slice();
    columns.forEach((k, place) => {
      if (isOurs(place)) next[k] = row[k];
    });
    return next;
  };
  const n = columns.length,
    score = (rows) =>
      asker.scores(rows).map((one) => (second === null ? one[0] : one[shown] - one[second]));
  const values = new Array(n).fill(0),
    base = score([typical])[0];
  if (n <= MOST_EXACT) {
    const sets = Array.from({ length: 2 ** n }, (_, set) => mixed((place) => (set >> place) & 1)),
      found = score(sets);
    const weight = []; // of a set of each size: s! (n − s − 1)! / n!
    for (let s = 0; s < n; s++) {
      let w = 1 / n;
      for (let k = 1; k <= s; k++) w *= k / (n - k);
      weight.push(w);
    }
    for (let set = 0; set < 2 ** n; set++) {
      let size = 0;
      for (let k = 0; k < n; k++) size += (set >> k) & 1;
      for (let k = 0; k < n; k++)
        if (!((set >> k) & 1)) values[k] += weight[size] * (found[set | (1 << k)] - found[set]);
    }
  } else {
    let seed = 1;
    const random = () => {
      seed = (seed * 48271) % 2147483647;
      return seed / 2147483647;
    };
    for (let turn = 0; turn < ORDERS; turn++) {
      const order = values.map((_, k) => k);
      for (let k = n - 1; k > 0; k--) {
        const other = Math.floor(random() * (k + 1));
        [order[k], order[other]] = [order[other], order[k]];
      }
      const rank = new Array(n);
      order.forEach((k, place) => {
        rank[k] = place;
      });
      const found = score(
        Array.from({ length: n + 1 }, (_, many) => mixed((place) => rank[place] < many)),
      );
      order.forEach((k, place) => {
        values[k] += (found[place + 1] - found[place]) / ORDERS;
      });
    }
  }
  return {
    parts: columns.map((k, place) => ({ name: doc.what_if.names[k], value: values[place] })),
    base,
    isTypical: true,
  };
}
