// Elements, numbers, scales and figures that all parts of the page share.

const SVG = "http://www.w3.org/2000/svg";
const MARKS = ["circle", "triangle", "square", "diamond", "turned", "plus", "cross", "star"];

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of [children].flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

function el(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function sv(name, attributes, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

// --- numbers in words ----------------------------------------------------------------------------

function num(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e6)
    return value.toLocaleString("en-US").replace("-", "−");
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2).replace("-", "−");
  const rounded = Number(value.toPrecision(digits));
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size || 1)));
  return rounded
    .toLocaleString("en-US", { maximumFractionDigits: Math.min(places, 12) })
    .replace("-", "−");
}

// Years and codes: no signs between thousands.
function bare(value) {
  return typeof value === "number"
    ? String(Number(value.toPrecision(8))).replace("-", "−")
    : cell(value);
}

function cell(value) {
  return value === null || value === undefined ? "missing" : String(value);
}

function percent(share, digits = 1) {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)} %`;
}

function bytes(count) {
  if (count === null || count === undefined) return "–";
  if (count >= 1e6) return `${num(count / 1e6, 3)} MB`;
  return count >= 1e3 ? `${num(count / 1e3, 3)} kB` : `${num(count)} bytes`;
}

function micro(us) {
  if (us === null || us === undefined) return "–";
  return us >= 1000 ? `${num(us / 1000, 3)} ms` : `${num(us, 2)} µs`;
}

// --- scales --------------------------------------------------------------------------------------

function linear(low, high, from, to) {
  const width = high - low || 1;
  const scale = (value) => from + ((value - low) / width) * (to - from);
  scale.back = (place) => low + ((place - from) / (to - from)) * width;
  return scale;
}

function ticks(low, high, count) {
  const width = high - low;
  if (!(width > 0)) return [low];
  const rough = width / Math.max(1, count);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 2.5, 5, 10].find((m) => m * unit >= rough) || 10);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * width; k++)
    found.push(Number((k * step).toPrecision(12)));
  return found;
}

function logTicks(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const m of [1, 2, 5]) found.push(m * 10 ** power);
  }
  const inside = found.filter((v) => v >= low && v <= high);
  return inside.length > 6
    ? inside.filter((v) => String(v.toExponential()).startsWith("1"))
    : inside;
}

// --- figures: drawn for the width that they have, and again when it changes -----------------------

const drawn = [];

// `draw(width)` gives an svg element; `table` is {head, rows}: the same numbers for everyone.
function figure({ draw, caption, table, legend, attributes }) {
  const place = el("div", { class: "place" });
  const node = el(
    "figure",
    attributes,
    place,
    legend,
    caption && el("figcaption", null, caption),
    table && dataTable(table),
  );
  let last = 0;
  const again = (forced) => {
    const width = Math.round(forced || place.clientWidth || node.clientWidth);
    if (!width || width === last) return;
    last = width;
    place.replaceChildren(draw(width));
  };
  drawn.push({
    node,
    again,
    reset: () => {
      last = 0;
    },
  });
  new ResizeObserver(() => again()).observe(place);
  return node;
}

addEventListener("beforeprint", () =>
  drawn
    .filter((one) => one.node.isConnected)
    .forEach((one) => one.again(one.node.closest(".grid2, .halves") ? 310 : 620)),
);
addEventListener("afterprint", () =>
  drawn.forEach((one) => {
    one.reset();
    one.again();
  }),
);

// --- tables --------------------------------------------------------------------------------------

// A table that scrolls by itself: cells of the head, rows of cells, and a class for each row.
function tableOf({ label, attributes, caption, head, rows, classOf }) {
  const tr = (cells, r) => el("tr", { class: classOf && classOf(r) }, cells);
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    el(
      "table",
      attributes,
      caption && el("caption", { class: "sr" }, caption),
      head && el("thead", null, el("tr", null, head)),
      el("tbody", null, rows.map(tr)),
    ),
  );
}

// Names in the first column, numbers in the others.
function table(head, rows, classOf) {
  return tableOf({
    label: `table: ${head[0] || "costs"}`,
    head: head.map((name, k) => el("th", { scope: "col", class: k ? "n" : null }, name)),
    rows: rows.map((row) =>
      row.map((value, k) =>
        k ? el("td", { class: "n" }, value) : el("th", { scope: "row" }, value),
      ),
    ),
    classOf,
  });
}

function dataTable({ head, rows, title }) {
  const summary = el("summary", null, title || "The numbers as a table");
  return el("details", null, summary, table(head, rows));
}

function canvas(width, height, label, role = "img") {
  return sv("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role, "aria-label": label });
}

// Text that keeps inside a width: an ellipsis after as many letters as fit.
function cut(text, pixels, size = 12) {
  const most = Math.max(3, Math.floor(pixels / (0.56 * size)));
  const letters = [...String(text)];
  return letters.length <= most ? String(text) : `${letters.slice(0, most - 1).join("")}…`;
}

// Left and bottom axes; gives the svg's parts.
function axes({
  x,
  y,
  xTicks,
  yTicks,
  xName,
  yName,
  width,
  height,
  left,
  bottom,
  xText = num,
  yText = num,
  grid = true,
}) {
  const base = height - bottom;
  return [
    yTicks.map((t) => [
      grid && sv("line", { class: "axis", x1: left, x2: width, y1: y(t), y2: y(t) }),
      sv("text", { x: left - 8, y: y(t) + 4, "text-anchor": "end" }, yText(t)),
    ]),
    xTicks.map((t) => sv("text", { x: x(t), y: base + 18, "text-anchor": "middle" }, xText(t))),
    sv("line", { class: "zero", x1: left, x2: width, y1: base, y2: base }),
    xName &&
      sv(
        "text",
        { x: (left + width) / 2, y: height - 2, "text-anchor": "middle" },
        cut(xName, width - left),
      ),
    yName && sv("text", { x: 0, y: 11 }, cut(yName, width)),
  ];
}

function copyable(title, text) {
  const button = el(
    "button",
    { type: "button", class: "quiet", "aria-label": `Copy: ${title}` },
    "Copy",
  );
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      done = copiedByHand(text);
    }
    button.textContent = done ? "Copied" : "Select and copy";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1600);
  });
  return el(
    "div",
    { class: "copy" },
    el("span", { class: "title" }, title),
    el("pre", { tabindex: "0" }, text),
    button,
  );
}

// For pages opened from a file, where the clipboard may be closed.
function copiedByHand(text) {
  const area = el("textarea", { class: "sr" });
  area.value = text;
  document.body.append(area);
  area.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    done = false;
  }
  area.remove();
  return done;
}
