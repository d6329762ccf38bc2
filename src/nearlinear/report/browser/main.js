// Puts the sections together, wakes the model, and keeps the theme.

function theme() {
  const button = document.getElementById("theme"),
    wish = matchMedia("(prefers-color-scheme: dark)");
  let own = null;
  const apply = () => {
    const dark = own === null ? wish.matches : own;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Switch to light colors" : "Switch to dark colors");
    button.setAttribute("aria-pressed", String(dark));
  };
  button.addEventListener("click", () => {
    own = document.documentElement.dataset.theme !== "dark";
    apply();
  });
  wish.addEventListener("change", apply);
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
  });
  addEventListener("afterprint", apply);
  apply();
}

function tryIt(doc) {
  const place = el("div", { id: "panel-place" }, el("p", { class: "note" }, "The model wakes up…"));
  return section(
    "try",
    "Try it",
    el(
      "p",
      null,
      "This is the model itself, in this page: change a row and see what it says. Nothing leaves your browser.",
    ),
    place,
  );
}

async function wake(doc) {
  const place = document.getElementById("panel-place"),
    text = document.getElementById("model").textContent;
  if (!place) return;
  try {
    const model = nearlinear.load(await unpacked(text));
    const alone = document.getElementById("regions-model").textContent;
    place.replaceChildren(
      whatIf(doc, model, alone ? nearlinear.load(await unpacked(alone)) : model),
    );
    checked(doc, model);
  } catch (error) {
    place.replaceChildren(
      el("p", { class: "problem" }, `The model does not run in this browser: ${error.message}`),
    );
  }
  document.documentElement.dataset.ready = "yes";
}

// What a row takes in this page, and whether it agrees with Python.
function checked(doc, model) {
  const known = doc.what_if.rows,
    rows = Array.from({ length: 256 }, (_, k) => known[k % known.length].row);
  let best = Infinity;
  for (let k = 0; k < 3; k++) {
    const began = performance.now();
    model.predict(rows);
    best = Math.min(best, performance.now() - began);
  }
  const asker = new Asker(model, doc),
    found = asker.scores(known.map((one) => one.row));
  const away = Math.max(
    ...known.map((one, k) =>
      Math.max(
        ...one.scores.map((score, o) => Math.abs(score - found[k][o]) / (1 + Math.abs(score))),
      ),
    ),
  );
  const agrees =
    away < 1e-5
      ? `and its scores of ${known.length} rows are Python's (to ${away.toExponential(0)})`
      : "but its scores differ from Python's: do not trust the panel";
  document.getElementById("page-time").textContent =
    ` In this page, a raw row takes about ${micro((1000 * best) / rows.length)}, ${agrees}.`;
}

function main() {
  const doc = JSON.parse(document.getElementById("contents").textContent);
  const runs =
    document.getElementById("model").textContent !== "" && typeof nearlinear !== "undefined";
  theme();
  const sections = [
    [
      "try",
      "Try it",
      doc.what_if && runs
        ? tryIt(doc)
        : doc.what_if_reason && section("try", "Try it", el("p", null, doc.what_if_reason)),
    ],
    ["good", "How good", howGood(doc)],
    ["matters", "What matters", whatMatters(doc)],
    ["regions", "Regions", regionsTold(doc)],
    ["front", "Chosen from", chosenFrom(doc)],
    ["columns", "Columns", columnsTold(doc)],
    ["cost", "Cost", costTold(doc)],
    ["use", "Use it", useIt(doc)],
    ["made", "Origin", howMade(doc)],
  ].filter(([, , node]) => node);
  const short = inShort(doc);
  short.append(
    el(
      "nav",
      { class: "contents", "aria-label": "Sections" },
      sections.map(([id, name]) => el("a", { href: `#${id}` }, name)),
    ),
  );
  document.getElementById("main").replaceChildren(short, ...sections.map(([, , node]) => node));
  document
    .getElementById("foot")
    .replaceChildren(
      `Made with nearlinear ${doc.made.versions.nearlinear}. This page holds all it needs and asks no other place for anything. It holds a few rows of the data: share it as you would share these.`,
    );
  if (doc.what_if && runs) wake(doc);
  else document.documentElement.dataset.ready = "yes";
}

main();
