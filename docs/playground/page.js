// The playground. `load` of nearlinear.js is put in front of this text by make.py.

const embedded = JSON.parse(document.getElementById("models").textContent);
const element = (id) => document.getElementById(id);
const CLASSES = ["#2b7a9b", "#d1495b", "#e0a030", "#5a9367", "#7d5ba6", "#8a6d4f", "#4f5d75", "#c779b0"];
const STEPS = 96; // squares of the plane in each direction

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

const loaded = new Map();
function modelOf(entry) {
  if (!loaded.has(entry)) loaded.set(entry, load(bytes(entry.file)));
  return loaded.get(entry);
}

// What a model cannot tell (regions of a kernel machine, say) is left out.
function orNull(ask) {
  try {
    return ask();
  } catch {
    return null;
  }
}

// ---------------------------------------------------------------------- words and bars

function make(tag, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

const short = (value) => Number(value.toPrecision(3)).toString().replace("-", "−");

// Parts as bars from a middle line (or from the left where none is below 0), the largest first.
function bars(parts, most = 8, whole = 1e-12) {
  const list = make("dl", "", "bars");
  const shown = [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, most);
  const largest = Math.max(...shown.map((one) => Math.abs(one.value)), whole);
  const hasBoth = shown.some((one) => one.value < 0);
  for (const one of shown) {
    const bar = make("dd", "", "bar");
    const inner = make("i", "", one.value < 0 ? "minus" : "");
    if (one.color) inner.style.background = one.color;
    const width = (Math.abs(one.value) / largest) * (hasBoth ? 50 : 100);
    inner.style.width = `${width}%`;
    inner.style.left = `${hasBoth ? (one.value < 0 ? 50 - width : 50) : 0}%`;
    bar.append(inner);
    list.append(make("dt", one.name), bar, make("dd", one.told ?? short(one.value), "number"));
  }
  return list;
}

// Of several outputs, the parts of one.
function partsOf(found, output) {
  const several = Array.isArray(found.values[0]) || ArrayBuffer.isView(found.values[0]);
  const values = several ? found.values[output] : found.values;
  return Array.from(values, (value, place) => ({ name: found.names[place], value }));
}

// The gates: which of the model's parts answer for a row, and how much each counts.
function whoAnswers({ component, active, gates, region }) {
  const name = { anchor: "anchor", node: "the node of the tree with number", kernel: "kernel", member: "member" }[component] ?? component;
  if (Array.isArray(active[0])) return [make("p", `${active.length} paths answer together.`)];
  if (component === "node" || active.length === 1) return [make("p", `It ends at ${name} ${region}.`)];
  if (component === "leaf") return [make("p", `Leaves ${active.join(", ")} answer, one of each tree.`)];
  const parts = Array.from(active, (number, place) => ({ name: `${name} ${number}`, value: gates[place] }));
  return [make("p", "Who answers, and how much each counts:"), bars(parts, 5, 1)];
}

// What a model says of one row: an answer, its probability, who answered, and what each column adds.
function tell(place, model, row) {
  place.replaceChildren();
  const answer = model.predict([row])[0];
  const classes = model.classes;
  let output = 0;
  if (classes) {
    const shares = orNull(() => model.predictProba([row])[0]);
    output = classes.length > 2 ? classes.indexOf(answer) : 0;
    place.append(make("h2", `${answer}`));
    if (shares) {
      const parts = Array.from(shares, (value, c) => ({
        name: `${classes[c]}`, value, told: `${(100 * value).toFixed(1)} %`, color: CLASSES[c],
      }));
      place.append(bars(parts, 5, 1));
    }
  } else {
    place.append(make("h2", short(Array.isArray(answer) ? answer[0] : answer)));
  }
  const region = orNull(() => model.regions([row])[0]);
  if (region) place.append(...whoAnswers(region));
  const known = orNull(() => model.supportScore([row])[0]);
  if (known !== null) place.append(make("p", `Known from the training rows: ${short(known)}.`));
  const found = orNull(() => model.contributions([row])[0]);
  if (!found) {
    place.append(make("p", "This kind of model has no parts by column."));
    return;
  }
  const part = `${found.names[0]}`.startsWith("kernel") ? "kernel" : "column";
  const parts = partsOf(found, output);
  if (classes?.length === 2) {
    // of two classes, what is above 0 speaks for the second
    for (const one of parts) one.color = CLASSES[one.value < 0 ? 0 : 1];
  }
  const one = (numbers) => (Array.isArray(numbers) ? numbers[output] : numbers);
  place.append(
    make("p", `What each ${part} adds to the score:`),
    bars(parts),
    make("p", `They begin at ${short(one(found.base))} and end at ${short(one(found.score))}, the score.`),
  );
}

// ---------------------------------------------------------------------- the plane

const plane = { row: [0.6, 0.1] };

function colorsOf(entry, model, view, rows) {
  if (view === "regions") {
    const regions = orNull(() => model.regions(rows));
    return regions && regions.map((one) => [...rgb(CLASSES[numberOf(one) % CLASSES.length]), 150]);
  }
  if (view === "support") {
    const known = orNull(() => Array.from(model.supportScore(rows)));
    const most = known && Math.max(...known);
    return known && known.map((one) => [43, 122, 155, Math.round(200 * Math.max(0, one / most))]);
  }
  return squareShares(model, rows).map((share) => {
    const color = rgb(CLASSES[share > 0.5 ? 1 : 0]);
    return [...color, Math.round(30 + 300 * Math.abs(share - 0.5))];
  });
}

// Probabilities of the second class; of a model that has none, how far a score is from 0.
function squareShares(model, rows) {
  const shares = orNull(() => model.predictProba(rows).map((both) => both[1]));
  return shares ?? Array.from(model.decisionFunction(rows), (score) => 1 / (1 + Math.exp(-2 * score)));
}

// A region's number; where several trees answer, one for each set of leaves.
function numberOf({ region, active }) {
  return region ?? active.flat().reduce((sum, leaf) => (31 * sum + leaf) % 9973, 7);
}

function rgb(color) {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}

function toCanvas(canvas, box, [x, y]) {
  return [
    ((x - box[0]) / (box[1] - box[0])) * canvas.width,
    (1 - (y - box[2]) / (box[3] - box[2])) * canvas.height,
  ];
}

function drawPlane(isNew) {
  const entry = embedded.plane[element("plane-model").value];
  const canvas = element("plane-canvas");
  const context = canvas.getContext("2d");
  const box = entry.box;
  const model = modelOf(entry);
  if (isNew) plane.picture = pictureOf(entry, model, element("plane-view").value, box);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingEnabled = element("plane-view").value !== "regions";
  if (plane.picture) context.drawImage(plane.picture, 0, 0, canvas.width, canvas.height);
  for (const [x, y, label] of embedded.rows) {
    const at = toCanvas(canvas, box, [x, y]);
    context.beginPath();
    // marks tell the classes apart where colors do not
    if (label) context.rect(at[0] - 3, at[1] - 3, 6, 6);
    else context.arc(at[0], at[1], 3.4, 0, 7);
    context.fillStyle = CLASSES[label];
    context.strokeStyle = "white";
    context.fill();
    context.stroke();
  }
  drawLine(context, canvas, box, model);
  const at = toCanvas(canvas, box, plane.row);
  context.beginPath();
  context.arc(at[0], at[1], 8, 0, 7);
  context.lineWidth = 3;
  context.strokeStyle = "#101418";
  context.fillStyle = "#ffffffcc";
  context.fill();
  context.stroke();
  context.lineWidth = 1;
  tell(element("plane-told"), model, plane.row);
  if (isNew && !plane.picture) {
    element("plane-told").prepend(make("p", "This model has no answer to that: choose other colors."));
  }
}

function pictureOf(entry, model, view, box) {
  const rows = [];
  for (let i = 0; i < STEPS; i += 1) {
    for (let j = 0; j < STEPS; j += 1) {
      rows.push([
        box[0] + ((j + 0.5) / STEPS) * (box[1] - box[0]),
        box[3] - ((i + 0.5) / STEPS) * (box[3] - box[2]),
      ]);
    }
  }
  const colors = colorsOf(entry, model, view, rows);
  if (!colors) return null;
  const picture = document.createElement("canvas");
  picture.width = picture.height = STEPS;
  const image = new ImageData(STEPS, STEPS);
  colors.forEach((color, place) => image.data.set(color, 4 * place));
  picture.getContext("2d").putImageData(image, 0, 0);
  return picture;
}

// Where the linear model that answers for the row is 0: w·z + b, with w from what each column adds.
function drawLine(context, canvas, box, model) {
  const entry = embedded.plane[element("plane-model").value];
  const found = entry.hasLine && orNull(() => model.contributions([plane.row])[0]);
  if (!found || plane.row.some((value) => Math.abs(value) < 1e-9)) return;
  const w = found.values.map((value, axis) => value / plane.row[axis]);
  const b = found.base;
  const points = [];
  const along = Math.abs(w[1]) > Math.abs(w[0]) ? 0 : 1;
  for (const end of along === 0 ? [box[0], box[1]] : [box[2], box[3]]) {
    const other = -(b + w[along] * end) / w[1 - along];
    points.push(along === 0 ? [end, other] : [other, end]);
  }
  if (!points.flat().every(Number.isFinite)) return;
  context.beginPath();
  context.setLineDash([7, 5]);
  context.lineWidth = 2;
  context.strokeStyle = "#101418";
  points.forEach((point, place) => {
    const at = toCanvas(canvas, box, point);
    if (place) context.lineTo(...at);
    else context.moveTo(...at);
  });
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 1;
}

function movePlane(event) {
  const canvas = element("plane-canvas");
  const place = canvas.getBoundingClientRect();
  const box = embedded.plane[element("plane-model").value].box;
  plane.row = [
    box[0] + ((event.clientX - place.left) / place.width) * (box[1] - box[0]),
    box[3] - ((event.clientY - place.top) / place.height) * (box[3] - box[2]),
  ];
  drawPlane(false);
}

function startPlane() {
  embedded.plane.forEach((entry, place) => {
    element("plane-model").append(new Option(entry.name, place));
  });
  element("plane-model").value = 2;
  for (const id of ["plane-model", "plane-view"]) {
    element(id).addEventListener("change", () => drawPlane(true));
  }
  const canvas = element("plane-canvas");
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    movePlane(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && movePlane(event));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    plane.row = plane.row.map((value, axis) => value + 0.0501 * step[axis]);
    drawPlane(false);
  });
  drawPlane(true);
}

// ---------------------------------------------------------------------- digits

const digits = { dots: [], number: 0, pen: [3, 3] };

function drawDots(canvas, colorOf) {
  const context = canvas.getContext("2d");
  const size = canvas.width / 8;
  context.clearRect(0, 0, canvas.width, canvas.height);
  for (let place = 0; place < 64; place += 1) {
    context.fillStyle = colorOf(place);
    context.fillRect((place % 8) * size, Math.floor(place / 8) * size, size - 1, size - 1);
  }
}

function drawDigits() {
  const model = modelOf(embedded.digits[element("digits-model").value]);
  drawDots(element("digits-canvas"), (place) => {
    const share = 1 - digits.dots[place] / 16;
    return `rgb(${Math.round(20 + 225 * share)} ${Math.round(28 + 217 * share)} ${Math.round(36 + 209 * share)})`;
  });
  if (document.activeElement === element("digits-canvas")) drawPen();
  const answer = model.predict([digits.dots])[0];
  const output = model.classes.indexOf(answer);
  const found = orNull(() => model.contributions([digits.dots])[0]);
  const place = element("digits-told");
  tell(place, model, digits.dots);
  // sixty-four bars tell nobody anything: the picture does
  if (found) [...place.children].slice(-3, -1).forEach((part) => part.remove());
  const values = found ? partsOf(found, output).map((one) => one.value) : new Array(64).fill(0);
  const largest = Math.max(...values.map(Math.abs), 1e-12);
  drawDots(element("digits-why"), (dot) => {
    const color = rgb(CLASSES[values[dot] < 0 ? 1 : 0]);
    return `rgb(${color.join(" ")} / ${Math.abs(values[dot]) / largest})`;
  });
  element("digits-caption").textContent = found
    ? `what each dot adds to “${answer}”: blue for it, red against it`
    : "this kind of model has no parts by dot";
}

function drawPen() {
  const context = element("digits-canvas").getContext("2d");
  const size = element("digits-canvas").width / 8;
  context.strokeStyle = "#d1495b";
  context.lineWidth = 3;
  context.strokeRect(digits.pen[0] * size + 1, digits.pen[1] * size + 1, size - 3, size - 3);
}

// A soft pen: the dot itself, and a little of those beside it.
function dab(column, line) {
  const sign = element("digits-rub").checked ? -1 : 1;
  for (let dy = -1; dy <= 1; dy += 1) {
    for (let dx = -1; dx <= 1; dx += 1) {
      const [x, y] = [column + dx, line + dy];
      if (x < 0 || y < 0 || x > 7 || y > 7) continue;
      const much = dx || dy ? (dx && dy ? 0 : 3) : 16;
      const dot = 8 * y + x;
      digits.dots[dot] = Math.min(16, Math.max(0, digits.dots[dot] + sign * much));
    }
  }
  drawDigits();
}

function startDigits() {
  embedded.digits.forEach((entry, place) => {
    element("digits-model").append(new Option(entry.name, place));
  });
  const show = (dots) => {
    digits.dots = [...dots];
    drawDigits();
  };
  element("digits-model").addEventListener("change", drawDigits);
  element("digits-clear").addEventListener("click", () => show(new Array(64).fill(0)));
  element("digits-next").addEventListener("click", () => {
    digits.number = (digits.number + 1) % embedded.samples.length;
    show(embedded.samples[digits.number]);
  });
  const canvas = element("digits-canvas");
  let last = null;
  const draw = (event) => {
    const place = canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - place.left) / place.width) * 8);
    const line = Math.floor(((event.clientY - place.top) / place.height) * 8);
    if (last === `${column} ${line}`) return;
    last = `${column} ${line}`;
    dab(column, line);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = null;
    draw(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && draw(event));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) digits.pen = digits.pen.map((at, axis) => Math.min(7, Math.max(0, at + step[axis])));
    else if (event.key !== " ") return;
    event.preventDefault();
    if (event.key === " ") dab(...digits.pen);
    else drawDigits();
  });
  canvas.addEventListener("focus", drawDigits);
  canvas.addEventListener("blur", drawDigits);
  show(embedded.samples[0]);
}

// ---------------------------------------------------------------------- a row of a table

// Sliders and menus for the columns of a model; `known` may say which values are usual.
function startRow(form, told, model, known = {}) {
  const row = model.columns.map((column) => known[column.name]?.typical ?? (column.kind === "number" ? 0 : null));
  form.replaceChildren();
  model.columns.forEach((column, place) => {
    const label = make("label");
    label.append(make("span", column.name));
    const output = make("output");
    const control = controlOf(column, known[column.name], row[place]);
    const say = () => {
      output.textContent = column.kind === "number" && row[place] !== null ? short(row[place]) : "";
    };
    control.addEventListener("input", () => {
      row[place] = column.kind === "number" ? Number(control.value) : control.value || null;
      say();
      tell(told, model, row);
    });
    say();
    label.append(control, output);
    form.append(label);
  });
  tell(told, model, row);
}

function controlOf(column, known, value) {
  const names = known?.values ?? column.categories;
  if (column.kind === "number" && !names?.length) {
    const control = make("input");
    const [low, high] = known?.range ?? [-3, 3];
    Object.assign(control, { type: "range", min: low, max: high, step: (high - low) / 200 });
    control.value = value;
    return control;
  }
  if (!names?.length) return Object.assign(make("input"), { value: value ?? "" });
  const control = make("select");
  control.append(new Option("(missing)", ""));
  for (const name of names) control.append(new Option(name, name));
  control.value = value ?? "";
  return control;
}

function startOwn() {
  const zone = element("drop");
  const read = async (file) => {
    element("own-error").textContent = "";
    try {
      const model = load(await file.arrayBuffer());
      startRow(element("own-row"), element("own-told"), model);
    } catch (error) {
      element("own-error").textContent = error.message;
    }
  };
  element("file").addEventListener("change", (event) => event.target.files[0] && read(event.target.files[0]));
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    zone.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", kind === "dragover" || kind === "dragenter");
      if (kind === "drop" && event.dataTransfer.files.length) read(event.dataTransfer.files[0]);
    });
  }
}

// ---------------------------------------------------------------------- tabs

function startTabs() {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const choose = (chosen) => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      element(tab.getAttribute("aria-controls")).hidden = !isChosen;
    }
    chosen.focus();
  };
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) choose(tabs[(place + step + tabs.length) % tabs.length]);
    });
  });
}

startTabs();
startPlane();
startDigits();
startRow(element("table-row"), element("table-told"), modelOf(embedded.table), embedded.table.known);
startOwn();
