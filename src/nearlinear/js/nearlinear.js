/**
 * Scores of nearlinear's model files (.nlm), in browsers and in Node, without any dependency.
 *
 *     import { load } from "./nearlinear.js";
 *
 *     const model = load(await (await fetch("model.nlm")).arrayBuffer());
 *     model.predict([[5.1, 3.5, null, "red"]]);
 *
 * A file is data: nothing in it is run, and all of it is checked before a row is scored. The
 * sections below are those of Python's `nearlinear.runtime`; docs/deploy/model-file.md describes the file.
 *
 * All sums are double. Of a model in single precision, rows and scores are rounded to single
 * precision, and so is whatever decides which way a row goes down a forest.
 */

/** The file is no model file, is damaged, or has another format version; the message says which. */
export class ModelFileError extends Error {
  constructor(message) {
    super(message);
    this.name = "ModelFileError";
  }
}

/**
 * The model in the bytes of a file.
 * @param {ArrayBuffer | ArrayBufferView} data
 * @returns {Model}
 */
export function load(data) {
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : isBuffer(data) && new Uint8Array(data);
  if (!bytes) throw new TypeError("load takes the bytes of a model file: an ArrayBuffer.");
  const { header, arrays } = read(bytes);
  return modelOf(header, arrays);
}

/** Buffers of another window are no instance of this one's class. */
const isBuffer = (data) => /ArrayBuffer\]$/.test(Object.prototype.toString.call(data));

function refuse(message) {
  throw new ModelFileError(message);
}

// === Bytes: container.py =========================================================================

const MAGIC = [0x89, 0x4e, 0x4c, 0x4d, 0x0d, 0x0a, 0x1a, 0x0a];
const VERSION = 1;
const FIXED = 24;
const ALIGNMENT = 64;
const LONGEST_HEADER = 2 ** 26;
const ARRAY_TYPES = {
  "<f4": Float32Array,
  "<f8": Float64Array,
  "<i4": Int32Array,
  "<i8": BigInt64Array,
  "|i1": Int8Array,
  "|u1": Uint8Array,
  "|b1": Uint8Array,
};
const IS_LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function read(bytes) {
  if (MAGIC.some((byte, place) => bytes[place] !== byte)) {
    refuse("The model is no model file: it does not begin as one.");
  }
  if (bytes.length < FIXED) refuse(`The model is cut short: ${bytes.length} bytes are left.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(8, true);
  if (version !== VERSION) {
    refuse(
      `The model has format version ${version}, but this nearlinear.js reads version ${VERSION}: ` +
        "use the nearlinear.js of the release that wrote the file, or save the model again.",
    );
  }
  const length = view.getUint32(16, true) + 2 ** 32 * view.getUint32(20, true);
  if (length > Math.min(bytes.length - FIXED, LONGEST_HEADER)) {
    refuse("The model is cut short or damaged: its header does not fit in it.");
  }
  const text = bytes.subarray(FIXED, FIXED + length);
  if (crc32(text, crc32(bytes.subarray(8, 12))) !== view.getUint32(12, true)) {
    refuse("The model is damaged: its header has another checksum than written.");
  }
  checkDemand(headerBytes(text), bytes.length);
  const header = parsedHeader(text);
  const arrays = readArrays(bytes, FIXED + length, header.arrays);
  delete header.arrays;
  checkDemand(contentBytes(header, arrays), bytes.length);
  return { header, arrays };
}

function parsedHeader(text) {
  let header = null;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    header = parseJSON(decoder.decode(text));
  } catch {
    refuse("The model is damaged: its header is not JSON.");
  }
  if (!isObject(header) || !Array.isArray(header.arrays)) {
    refuse("The model is damaged: its header lists no arrays.");
  }
  return header;
}

function readArrays(bytes, at, entries) {
  const spans = entries.map((entry, number) => {
    const { type, shape, offset, checksum } = arrayEntry(entry, number);
    const size = shape.reduce((product, extent) => product * extent, 1);
    const end = offset + size * ARRAY_TYPES[type].BYTES_PER_ELEMENT;
    const wanted = Math.ceil(at / ALIGNMENT) * ALIGNMENT;
    if (offset !== wanted || end > bytes.length || bytes.subarray(at, offset).some((b) => b)) {
      refuse(`The model is cut short or damaged: array ${number} is not where it belongs.`);
    }
    at = end;
    return { type, shape, checksum, offset, end };
  });
  if (at !== bytes.length) refuse(`The model has ${bytes.length - at} bytes more than it should.`);
  return spans.map(({ type, shape, checksum, offset, end }, number) => {
    const own = bytes.slice(offset, end); // a copy: what lies in a file need not be aligned here
    if (crc32(own) !== checksum) {
      refuse(`The model is damaged: array ${number} has another checksum than written.`);
    }
    const Kind = ARRAY_TYPES[type];
    if (!IS_LITTLE_ENDIAN) swapBytes(own, Kind.BYTES_PER_ELEMENT);
    return new Tensor(type.slice(1), shape, new Kind(own.buffer, own.byteOffset));
  });
}

function arrayEntry(entry, number) {
  const isWhole = (value) => typeof value === "number" && value >= 0 && value < 2 ** 40;
  if (isObject(entry) && Object.keys(entry).sort().join() === "crc32,dtype,offset,shape") {
    const { dtype, shape, offset, crc32: checksum } = entry;
    const isKnown = typeof dtype === "string" && Object.hasOwn(ARRAY_TYPES, dtype);
    const good = isKnown && Array.isArray(shape) && shape.length <= 8;
    // no extent is larger than a file could be, even beside one of zero
    if (good && [...shape, offset, checksum].every(isWhole)) {
      const largest = shape.reduce((product, extent) => product * Math.max(extent, 1), 1);
      if (largest < 2 ** 50) return { type: dtype, shape, offset, checksum };
    }
  }
  return refuse(`The model is damaged: array ${number} is described wrongly.`);
}

function swapBytes(bytes, size) {
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
}

/** Four tables of 256: four bytes at a time take a third of the time of one. */
const CRC_TABLES = (() => {
  const tables = new Int32Array(1024);
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    tables[n] = c;
  }
  for (let n = 256; n < 1024; n++) {
    tables[n] = (tables[n - 256] >>> 8) ^ tables[tables[n - 256] & 255];
  }
  return tables;
})();

function crc32(bytes, before = 0) {
  const T = CRC_TABLES;
  let crc = ~before;
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    crc =
      T[768 + (crc & 255)] ^
      T[512 + ((crc >>> 8) & 255)] ^
      T[256 + ((crc >>> 16) & 255)] ^
      T[crc >>> 24];
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ T[(crc ^ bytes[at]) & 255];
  return ~crc >>> 0;
}

// === JSON, with whole numbers told from others ===================================================

/** A number that is written with a point or an exponent; whole ones are plain, or a BigInt. */
class Real {
  constructor(value) {
    this.value = value;
  }
}

const DEEPEST_JSON = 900;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
const MOST_DIGITS = 4300; // of a whole number, as in Python
const WORDS = { t: ["true", true], f: ["false", false], n: ["null", null] };

/** JSON.parse takes 1 for 1.0, and the last of two equal keys; a header must not be read so. */
function parseJSON(text) {
  let at = 0;
  const fail = () => {
    throw new SyntaxError(`not JSON at ${at}`);
  };
  const skip = () => {
    for (;;) {
      const c = text.charCodeAt(at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return text[at];
      at++;
    }
  };
  const string = () => {
    const start = at++;
    for (; ; at++) {
      const c = text.charCodeAt(at);
      if (c === 34) break;
      if (c === 92) at++;
      else if (!(c >= 32)) fail();
    }
    at++;
    return JSON.parse(text.slice(start, at));
  };
  const number = () => {
    NUMBER.lastIndex = at;
    const found = NUMBER.exec(text);
    if (found === null) fail();
    at = NUMBER.lastIndex;
    const value = Number(found[0]);
    if (found[1] !== undefined || found[2] !== undefined) {
      return Number.isFinite(value) ? new Real(value) : fail();
    }
    if (Number.isSafeInteger(value)) return value + 0;
    return found[0].length <= MOST_DIGITS ? BigInt(found[0]) : fail();
  };
  const items = (end, depth, add) => {
    if (depth > DEEPEST_JSON) fail();
    at++;
    if (skip() === end) {
      at++;
      return;
    }
    for (;;) {
      add();
      const next = skip();
      at++;
      if (next === end) return;
      if (next !== ",") fail();
      skip();
    }
  };
  const value = (depth) => {
    const first = skip();
    if (first === '"') return string();
    if (first === "[") {
      const found = [];
      items("]", depth, () => found.push(value(depth + 1)));
      return found;
    }
    if (first === "{") {
      const found = Object.create(null); // no name means anything here, not even __proto__
      items("}", depth, () => {
        if (text[at] !== '"') fail();
        const key = string();
        if (skip() !== ":" || key in found) fail();
        at++;
        found[key] = value(depth + 1);
      });
      return found;
    }
    if (first !== undefined && Object.hasOwn(WORDS, first)) {
      const [word, meaning] = WORDS[first];
      if (!text.startsWith(word, at)) fail();
      at += word.length;
      return meaning;
    }
    return number();
  };
  const found = value(0);
  if (skip() !== undefined) fail();
  return found;
}

/** Of a header: what JSON calls an object. */
function isObject(value) {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Real)
  );
}

/** JavaScript's own values of what a header says, for people to look at. */
function plain(value) {
  if (value instanceof Real) return value.value;
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

// === How much a file may ask for: demands.py =====================================================

const BYTES_PER_VALUE = 120;

function checkDemand(nBytes, fileBytes) {
  const most = 16 * fileBytes + 2 ** 26;
  if (!(nBytes <= most)) {
    refuse(
      `The model asks for too much memory: its ${fileBytes} bytes may become ${most} at most.`,
    );
  }
}

function headerBytes(text) {
  let nValues = 0;
  for (const byte of text) {
    if (byte === 44 || byte === 58 || byte === 91 || byte === 123) nValues++; // , : [ {
  }
  return nValues * BYTES_PER_VALUE + 4 * text.length;
}

function contentBytes(header, arrays) {
  const width = ["n_features", "n_gating_features"]
    .map((name) => header[name])
    .reduce((sum, count) => sum + (isWhole(count) ? Number(count) : 0), 0);
  const waiting = [header];
  let taken = 8 * width;
  while (waiting.length) {
    const value = waiting.pop();
    if (isObject(value)) taken += takenBy(value, arrays, width);
    else if (!Array.isArray(value)) continue;
    for (const item of Object.values(value)) waiting.push(item);
  }
  return taken;
}

function takenBy(value, arrays, width) {
  const size = (described) => {
    const number = isObject(described) ? described.number : null;
    return isWhole(number) && arrays[Number(number)] ? arrays[Number(number)].size : 0;
  };
  if (value.$ === "strings" && Array.isArray(value.items)) {
    const lengths = value.items.map((item) => (typeof item === "string" ? item.length : 0));
    return 4 * lengths.length * lengths.reduce((most, one) => Math.max(most, one), 0);
  }
  if (value.$ === "array" && "as" in value) return 8 * size(value);
  if (value.$ === "csr") return 8 * Object.values(value).reduce((sum, one) => sum + size(one), 0);
  const k = isWhole(value.n_neighbors) ? Number(value.n_neighbors) : 0;
  return 8 * k * (k + width);
}

const isWhole = (value) => typeof value === "number" || typeof value === "bigint";

// === Descriptions as parts: parts.py =============================================================

/** An array of a file. `type` is that of NumPy without its byte order, such as f4. */
class Tensor {
  constructor(type, shape, data) {
    this.type = type;
    this.shape = shape;
    this.data = data;
  }

  get size() {
    return this.data.length;
  }

  get isFloat() {
    return this.type === "f4" || this.type === "f8";
  }

  /** The same as doubles: loops over one kind of array are the quick ones. */
  get doubles() {
    if (this.data instanceof Float64Array) return this.data;
    const isBig = this.type === "i8" || this.type === "u8";
    return isBig ? Float64Array.from(this.data, Number) : new Float64Array(this.data);
  }
}

class Part {
  constructor(kind, fields) {
    this.kind = kind;
    this.fields = fields;
  }
}

class Tuple {
  constructor(items) {
    this.items = items;
  }
}

const DEEPEST = 50;
const KEPT_AS = {
  "<i2": ["i2", (value) => BigInt.asIntN(16, value)],
  "<u2": ["u2", (value) => BigInt.asUintN(16, value)],
  "<u4": ["u4", (value) => BigInt.asUintN(32, value)],
  "<u8": ["u8", (value) => BigInt.asUintN(64, value)],
  "<f2": ["f2", null],
};

/** A description with its arrays filled in. */
function parse(value, arrays, depth = 0) {
  if (depth > DEEPEST) refuse("The model is nested too deeply.");
  if (value === null || typeof value !== "object" || value instanceof Real) return value;
  const inner = (item) => parse(item, arrays, depth + 1);
  if (Array.isArray(value)) return value.map(inner);
  const mark = value.$;
  if (typeof mark !== "string" || !Object.hasOwn(MARKS, mark)) {
    refuse("The model holds something that is no description of data.");
  }
  return MARKS[mark](value, arrays, inner, () =>
    refuse(`The model's ${mark} is described wrongly.`),
  );
}

/** What Python makes of a value that it goes through. */
function elements(value, wrong) {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  return isObject(value) ? Object.keys(value) : wrong();
}

const MARKS = {
  array({ number, as = null }, arrays) {
    if (typeof number !== "number" || !(number >= 0 && number < arrays.length)) {
      refuse(`The model asks for an array that is none of its ${arrays.length}.`);
    }
    return as === null ? arrays[number] : keptAs(arrays[number], as);
  },
  csr(value, arrays, inner, wrong) {
    const [shape, data, indices, indptr] = ["shape", "data", "indices", "indptr"].map((name) =>
      name in value ? inner(value[name]) : wrong(),
    );
    checkSparse(shape instanceof Tuple ? shape.items : shape, data, indices, indptr);
    return { isSparse: true, shape, data, indices, indptr };
  },
  tuple: ({ items }, arrays, inner, wrong) => new Tuple(elements(items, wrong).map(inner)),
  dict({ items }, arrays, inner, wrong) {
    const found = new Map();
    for (const item of elements(items, wrong)) {
      const pair = elements(item, wrong);
      if (pair.length !== 2) wrong();
      const [key, held] = pair.map(inner);
      if (
        typeof key === "object" &&
        key !== null &&
        !(key instanceof Real || key instanceof Tuple)
      ) {
        wrong();
      }
      found.set(key instanceof Real ? key.value : key, held);
    }
    return found;
  },
  number({ value }, arrays, inner, wrong) {
    const named = { inf: Infinity, "-inf": -Infinity, nan: NaN };
    return typeof value === "string" && Object.hasOwn(named, value)
      ? new Real(named[value])
      : wrong();
  },
  strings({ items }, arrays, inner, wrong) {
    const found = elements(items, wrong);
    if (!found.every((item) => typeof item === "string" && !item.endsWith("\0"))) {
      refuse("The model has strings that are none, or that end in a zero.");
    }
    return Array.isArray(items) ? found : new Tuple(found);
  },
  objects: ({ items }, arrays, inner, wrong) => elements(items, wrong).map(inner),
  object(value, arrays, inner, wrong) {
    if (!("kind" in value) || !("fields" in value)) wrong();
    const given = isObject(value.fields) ? value.fields : Object.create(null);
    if (!isObject(value.fields) && elements(value.fields, wrong).length) wrong();
    if ("kind" in given) refuse("The model has a field of the name kind.");
    const fields = Object.create(null);
    for (const name of Object.keys(given)) fields[name] = inner(given[name]);
    return new Part(value.kind, fields);
  },
};

function keptAs(array, kind) {
  if (typeof kind !== "string" || !Object.hasOwn(KEPT_AS, kind)) {
    refuse("The model has an array of an unknown type.");
  }
  const [type, wrap] = KEPT_AS[kind];
  if (wrap === null) return new Tensor(type, array.shape, array.doubles);
  const whole = (value) => {
    if (typeof value === "bigint") return value;
    return Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
  };
  const wrapped = Array.from(array.data, (value) => wrap(whole(value)));
  const isWide = type === "u8";
  return new Tensor(type, array.shape, isWide ? wrapped : Float64Array.from(wrapped, Number));
}

/** Holds the arrays of sparse rows against each other. */
function checkSparse(shape, data, indices, indptr) {
  const isExtent = (value) => typeof value === "number" && value >= 0 && value < 2 ** 40;
  const isRow = (array, types) =>
    array instanceof Tensor && array.shape.length === 1 && types.includes(array.type);
  let good = Array.isArray(shape) && shape.length === 2 && shape.every(isExtent);
  good &&= isRow(data, ["f4", "f8", "i4", "i8", "b1"]) && isRow(indices, WHOLE);
  good &&= isRow(indptr, WHOLE) && indptr.size === shape[0] + 1 && indices.size === data.size;
  good &&= isAscending(indptr.doubles, 0, indices.size);
  good &&= indices.doubles.every((column) => column >= 0 && column < shape[1]);
  if (!good) refuse("The model's sparse rows are damaged.");
}

/** Whether numbers begin with `first`, end with `last`, and never fall. */
function isAscending(numbers, first, last) {
  for (let k = 1; k < numbers.length; k++) if (!(numbers[k] >= numbers[k - 1])) return false;
  return numbers.length > 0 && numbers[0] === first && numbers[numbers.length - 1] === last;
}

// === What a rule may ask of a field: fields.py ===================================================

const WHOLE = ["i4", "i8"];

function require(condition, kind, what) {
  if (!condition) refuse(`The model's ${kind} is inconsistent: ${what}.`);
}

/** A finite array of floats; null in `shape` leaves an extent open. */
function floats(array, shape, name) {
  let good = array instanceof Tensor && array.isFloat && array.shape.length === shape.length;
  good &&= shape.every((want, axis) => want === null || want === array.shape[axis]);
  if (!good || !areFinite(array.data)) {
    refuse(`The model's ${name} has the wrong shape, type or values.`);
  }
  return array;
}

function areFinite(numbers) {
  for (let k = 0; k < numbers.length; k++) if (numbers[k] - numbers[k] !== 0) return false;
  return true;
}

/** A row of whole numbers, as doubles: those of eight bytes are bounded by the rules that ask. */
function wholeNumbers(array, kind, what) {
  const good = array instanceof Tensor && WHOLE.includes(array.type) && array.shape.length === 1;
  require(good, kind, what);
  return array.doubles;
}

function number(value, name, low = -1e300, high = 1e300) {
  const found = value instanceof Real ? value.value : isWhole(value) ? Number(value) : NaN;
  return found >= low && found <= high ? found : refuse(`The model's ${name} is no such number.`);
}

function count(value, name, low, high) {
  if (typeof value === "number" && value >= low && value <= high) return value;
  return refuse(`The model's ${name} is not between ${low} and ${high}.`);
}

function boolean(value, kind, name) {
  require(typeof value === "boolean", kind, `${name} is no boolean`);
  return value;
}

function oneType(arrays, name) {
  if (new Set(arrays.filter((array) => array !== null).map((array) => array.type)).size > 1) {
    refuse(`The model's ${name} has arrays of several types.`);
  }
}

function chosenColumns(columns, nFeatures, name) {
  require(columns instanceof Tuple && columns.items.length > 0, name, "it has no columns");
  const most = columns.items.length <= nFeatures;
  require(most, name, "it has more columns than there are features");
  return Int32Array.from(columns.items, (one) => count(one, `${name} column`, 0, nFeatures - 1));
}

/** What the rule of a part's kind makes of its fields, all of them checked. */
function checked(part, family, context, only = null) {
  const isPart = part instanceof Part && typeof part.kind === "string";
  const rule = isPart && Object.hasOwn(RULES, part.kind) ? RULES[part.kind] : null;
  if (rule === null || rule.family !== family || (only && !only.includes(part.kind))) {
    const shown = isPart ? `the kind ${part.kind.slice(0, 40)}` : "no kind";
    refuse(`The model has a ${family} of ${shown}, which has no place there or is not known.`);
  }
  hasFields(part, rule.fields);
  return rule.make(part.fields, ...context);
}

function hasFields(part, names) {
  if (Object.keys(part.fields).sort().join() !== [...names].sort().join()) {
    refuse(`The model's ${part.kind} does not have the fields of one.`);
  }
}

const familyOf = (part) =>
  part instanceof Part && typeof part.kind === "string" && Object.hasOwn(RULES, part.kind)
    ? RULES[part.kind].family
    : null;

// === Sums that everything is made of =============================================================

/** Σ a[i + k] b[j + k]; four sums at once, for each waits for its last addition. */
function dot(a, i, b, j, n) {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += a[i + k] * b[j + k];
    s1 += a[i + k + 1] * b[j + k + 1];
    s2 += a[i + k + 2] * b[j + k + 2];
    s3 += a[i + k + 3] * b[j + k + 3];
  }
  for (; k < n; k++) s0 += a[i + k] * b[j + k];
  return s0 + s1 + (s2 + s3);
}

/** ‖a − b‖²: differences first, since products cancel far from the origin. */
function squaredDistance(a, i, b, j, n) {
  let s0 = 0;
  let s1 = 0;
  let k = 0;
  for (; k + 2 <= n; k += 2) {
    const u = a[i + k] - b[j + k];
    const v = a[i + k + 1] - b[j + k + 1];
    s0 += u * u;
    s1 += v * v;
  }
  if (k < n) {
    const u = a[i + k] - b[j + k];
    s0 += u * u;
  }
  return s0 + s1;
}

/** ‖x − z‖² of n rows z of a table from `first` on: four at a time, so that x is read once. */
function squaredDistances(X, at, table, first, n, width, out) {
  let j = 0;
  for (; j + 4 <= n; j += 4) {
    const z0 = (first + j) * width;
    const z1 = z0 + width;
    const z2 = z1 + width;
    const z3 = z2 + width;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let k = 0; k < width; k++) {
      const x = X[at + k];
      const u0 = x - table[z0 + k];
      const u1 = x - table[z1 + k];
      const u2 = x - table[z2 + k];
      const u3 = x - table[z3 + k];
      s0 += u0 * u0;
      s1 += u1 * u1;
      s2 += u2 * u2;
      s3 += u3 * u3;
    }
    out[j] = s0;
    out[j + 1] = s1;
    out[j + 2] = s2;
    out[j + 3] = s3;
  }
  for (; j < n; j++) out[j] = squaredDistance(X, at, table, (first + j) * width, width);
}

/** The row of `table` from `first` to before `last` that is nearest to a row, the first of equal. */
function nearestRow(X, at, table, first, last, width) {
  let best = first;
  let least = Infinity;
  for (let j = first; j < last; j++) {
    const square = squaredDistance(X, at, table, j * width, width);
    if (square < least) {
      least = square;
      best = j;
    }
  }
  return best;
}

/** exp(values), divided by their sum, in place. */
function softmax(values, at, n) {
  let top = -Infinity;
  for (let k = 0; k < n; k++) top = Math.max(top, values[at + k]);
  let sum = 0;
  for (let k = 0; k < n; k++) sum += values[at + k] = Math.exp(values[at + k] - top);
  for (let k = 0; k < n; k++) values[at + k] /= sum;
}

function normalize(values, n) {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += values[k];
  for (let k = 0; k < n; k++) values[k] /= sum;
}

/** The straight line between knots `first` to before `last` at x, level beyond them. */
function onLine(x, knots, first, last, values, stride, output) {
  const value = (k) => values[k * stride + output];
  if (x <= knots[first]) return value(first);
  if (x >= knots[last - 1]) return value(last - 1);
  const above = lowerBound(knots, first, last, x);
  if (knots[above] === x) return value(above);
  const slope = (value(above) - value(above - 1)) / (knots[above] - knots[above - 1]);
  return slope * (x - knots[above - 1]) + value(above - 1);
}

/** The first place whose number is not below x. */
function lowerBound(numbers, first, last, x) {
  while (first < last) {
    const middle = (first + last) >>> 1;
    if (numbers[middle] < x) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** (rows, columns, depth) as (rows, depth, columns), so that products run along memory. */
function lastAxesTurned(data, [rows, columns, depth]) {
  const turned = new Float64Array(data.length);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      for (let k = 0; k < depth; k++) {
        turned[(r * depth + k) * columns + c] = data[(r * columns + c) * depth + k];
      }
    }
  }
  return turned;
}

/**
 * Memory that is taken when a row is scored first, not when a file is read: by then the rules have
 * held its size against the file's arrays.
 */
function lazily(size) {
  let held = null;
  return () => (held ??= new Float64Array(size));
}

// === Gates: gate_rules.py, gate_scores.py ========================================================
//
// A sparse gate has `find(X, at, indices, values)`: the numbers of the `k` components that answer
// for a row, and how much. Any other has `values(X, at, out)` of all `count` components.

const MOST_INSERTED = 32; // neighbors; more of them are sorted

/** Finds the nearest anchors, the lower number first of equals, and their squared distances. */
function neighborSearch(anchors, nAnchors, width, k, metric) {
  const squares = lazily(nAnchors);
  const scaled = lazily(width);
  // a metric weighs features: that is the distance of scaled rows from scaled anchors
  const roots = metric && metric.map(Math.sqrt);
  const table = metric ? anchors.map((one, k) => one * roots[k % width]) : anchors;
  function measure(X, at, all) {
    if (metric === null) {
      squaredDistances(X, at, table, 0, nAnchors, width, all);
      return;
    }
    const x = scaled();
    for (let d = 0; d < width; d++) x[d] = X[at + d] * roots[d];
    squaredDistances(x, 0, table, 0, nAnchors, width, all);
  }
  if (k > MOST_INSERTED) {
    return (X, at, indices, values) => {
      const all = squares();
      measure(X, at, all);
      const order = Uint32Array.from(all, (_, j) => j).sort((a, b) => all[a] - all[b] || a - b);
      for (let p = 0; p < k; p++) values[p] = all[(indices[p] = order[p])];
    };
  }
  return (X, at, indices, values) => {
    const all = squares();
    measure(X, at, all);
    let n = 0;
    for (let j = 0; j < nAnchors; j++) {
      const square = all[j];
      if (n === k && !(square < values[k - 1])) continue;
      let p = n < k ? n++ : k - 1;
      for (; p > 0 && square < values[p - 1]; p--) {
        values[p] = values[p - 1];
        indices[p] = indices[p - 1];
      }
      values[p] = square;
      indices[p] = j;
    }
  };
}

function anchorGate(fields, nFeatures, metric, weigh) {
  const anchors = floats(fields.anchors, [null, nFeatures], "anchors");
  const nAnchors = anchors.shape[0];
  const k = count(fields.n_neighbors, "n_neighbors", 1, nAnchors);
  const table = anchors.doubles;
  const search = neighborSearch(table, nAnchors, nFeatures, k, metric);
  const turn = weigh(table, nAnchors, k, anchors.type === "f4");
  return {
    component: "anchor",
    count: nAnchors,
    k,
    arrays: [fields.anchors],
    find(X, at, indices, values) {
      search(X, at, indices, values);
      turn(X, at, indices, values);
      normalize(values, k);
    },
  };
}

function softAssignment(fields, nFeatures) {
  const sharpness = number(fields.sharpness, "sharpness", 0);
  let metric = null;
  if (fields.metric !== null) {
    metric = floats(fields.metric, [nFeatures], "metric").doubles;
    require(metric.every((one) => one >= 0), "SoftAssignment", "its metric is negative");
  }
  const gate = anchorGate(fields, nFeatures, metric, (table, nAnchors, k) => (X, at, _, values) => {
    const least = values[0];
    for (let p = 0; p < k; p++) values[p] = Math.exp(-sharpness * (values[p] - least));
  });
  return { ...gate, arrays: [fields.anchors, fields.metric] };
}

function inverseDistance(fields, nFeatures) {
  return anchorGate(fields, nFeatures, null, (table, nAnchors, k, single) => {
    const floor = (single ? 2 ** -23 : 2 ** -52) * Math.max(1, largestOffset(table, nAnchors));
    return (X, at, _, values) => {
      for (let p = 0; p < k; p++) values[p] = 1 / Math.sqrt(Math.max(values[p], floor));
    };
  });
}

/** The largest ½‖u‖² + ⟨mean, u⟩ of anchors less their mean: how far their squares are rounded. */
function largestOffset(table, nAnchors) {
  const width = table.length / nAnchors;
  const mean = new Float64Array(width);
  for (let j = 0; j < table.length; j++) mean[j % width] += table[j] / nAnchors;
  let largest = 0;
  for (let j = 0; j < nAnchors; j++) {
    let offset = 0;
    for (let d = 0; d < width; d++) {
      const away = table[j * width + d] - mean[d];
      offset += away * (0.5 * away + mean[d]);
    }
    largest = Math.max(largest, Math.abs(offset));
  }
  return largest;
}

function reconstructionCodes(fields, nFeatures) {
  const ridge = number(fields.ridge, "ridge", 0);
  return anchorGate(fields, nFeatures, null, (table, nAnchors, k) => {
    const grams = lazily(k * k);
    const aways = lazily(k * nFeatures);
    return (X, at, indices, values) => {
      const gram = grams();
      const away = aways();
      for (let p = 0; p < k; p++) {
        for (let d = 0; d < nFeatures; d++) {
          away[p * nFeatures + d] = table[indices[p] * nFeatures + d] - X[at + d];
        }
      }
      let trace = 0;
      for (let p = 0; p < k; p++) {
        for (let q = 0; q <= p; q++) {
          const product = dot(away, p * nFeatures, away, q * nFeatures, nFeatures);
          gram[p * k + q] = gram[q * k + p] = product;
        }
        trace += gram[p * k + p];
      }
      const more = Math.max(ridge * trace, 2.2250738585072014e-298);
      for (let p = 0; p < k; p++) gram[p * k + p] += more;
      values.fill(1);
      solve(gram, values, k);
    };
  });
}

/** A x = b by elimination with the largest pivots; x takes the place of b. */
function solve(A, b, n) {
  for (let c = 0; c < n; c++) {
    let pivot = c;
    for (let r = c + 1; r < n; r++) {
      if (Math.abs(A[r * n + c]) > Math.abs(A[pivot * n + c])) pivot = r;
    }
    if (pivot !== c) {
      for (let k = 0; k < n; k++) {
        [A[c * n + k], A[pivot * n + k]] = [A[pivot * n + k], A[c * n + k]];
      }
      [b[c], b[pivot]] = [b[pivot], b[c]];
    }
    for (let r = c + 1; r < n; r++) {
      const factor = A[r * n + c] / A[c * n + c];
      for (let k = c; k < n; k++) A[r * n + k] -= factor * A[c * n + k];
      b[r] -= factor * b[c];
    }
  }
  for (let r = n - 1; r >= 0; r--) {
    for (let k = r + 1; k < n; k++) b[r] -= A[r * n + k] * b[k];
    b[r] /= A[r * n + r];
  }
}

function linearGate(bend) {
  return (fields, nFeatures) => {
    const directions = floats(fields.directions, [null, nFeatures], "directions");
    const n = directions.shape[0];
    require(n >= 1, "gate", "it has no components");
    const offsets = floats(fields.offsets, [n], "offsets").doubles;
    const table = directions.doubles;
    return {
      count: n,
      values(X, at, out) {
        for (let q = 0; q < n; q++) {
          out[q] = dot(X, at, table, q * nFeatures, nFeatures) + offsets[q];
        }
        bend(out, n);
      },
    };
  };
}

function sigmoids(values, n) {
  for (let q = 0; q < n; q++) values[q] = 0.5 + 0.5 * Math.tanh(0.5 * values[q]);
}

function gaussianGate(fields, nFeatures) {
  const centers = floats(fields.centers, [null, nFeatures], "centers");
  const n = centers.shape[0];
  require(n >= 1, "GaussianGate", "it has no components");
  const scale = number(fields.scale, "scale", 1e-300);
  const narrow = floats(fields.log_widths, [n], "log_widths").doubles.map(
    (width) => Math.exp(-2 * Math.min(Math.max(width, -20), 20)) / scale,
  );
  const table = centers.doubles;
  return {
    count: n,
    values(X, at, out) {
      for (let q = 0; q < n; q++) {
        out[q] = -squaredDistance(X, at, table, q * nFeatures, nFeatures) * narrow[q];
      }
      softmax(out, 0, n);
    },
  };
}

function viewing(fields, nFeatures) {
  const { view } = fields;
  require(view instanceof Part && view.kind === "Columns", "gate", "its view is unknown");
  hasFields(view, ["columns"]);
  const columns = chosenColumns(view.fields.columns, nFeatures, "view");
  const gate = checked(fields.gate, "gate", [columns.length]);
  const row = new Float64Array(columns.length);
  return {
    count: gate.count,
    values(X, at, out) {
      for (let c = 0; c < columns.length; c++) row[c] = X[at + columns[c]];
      gate.values(row, 0, out);
    },
  };
}

/** A gate that changes the values of another. */
function gateAfter(gate, change) {
  return {
    count: gate.count,
    values(X, at, out) {
      gate.values(X, at, out);
      change(out, gate.count);
    },
  };
}

function rounded(fields, nFeatures) {
  const margin = number(fields.margin, "margin", 0, 1);
  return gateAfter(checked(fields.gate, "gate", [nFeatures]), (values, n) => {
    for (let q = 0; q < n; q++) {
      if (values[q] < margin) values[q] = 0;
      if (values[q] > 1 - margin) values[q] = 1;
    }
  });
}

function unitLength(fields, nFeatures) {
  return gateAfter(checked(fields.gate, "gate", [nFeatures]), (values, n) => {
    const length = Math.sqrt(dot(values, 0, values, 0, n));
    for (let q = 0; q < n; q++) values[q] /= length;
  });
}

function repeated(fields, nFeatures) {
  const times = count(fields.count, "count", 1, 2 ** 40);
  const gate = checked(fields.gate, "gate", [nFeatures]);
  const inner = lazily(gate.count);
  return {
    count: times * gate.count,
    values(X, at, out) {
      const values = inner();
      gate.values(X, at, values);
      for (let q = 0; q < gate.count; q++) out.fill(values[q], q * times, (q + 1) * times);
    },
  };
}

/** A gate of the scores of a kernel machine. */
function gateOfScores(name, change) {
  return (fields, nFeatures) => {
    const value = number(fields[name], name);
    const machine = checked(fields.scores, "predictor", [nFeatures], ["KernelExpansion"]);
    return {
      count: machine.nOutputs,
      values(X, at, out) {
        machine.row(X, at, out, 0);
        change(out, machine.nOutputs, value);
      },
    };
  };
}

function sharpened(values, n, sharpness) {
  for (let q = 0; q < n; q++) values[q] *= sharpness;
  softmax(values, 0, n);
}

function clipped(values, n, floor) {
  for (let q = 0; q < n; q++) values[q] = Math.min(Math.max(values[q], floor), 1);
}

/** Of the components' scores, in place of rows. */
function topAndBottom(fields, nComponents) {
  const chosen = count(fields.count, "count", 1, nComponents);
  const order = new Uint32Array(nComponents);
  return {
    count: nComponents,
    values(scores, at, out) {
      for (let q = 0; q < nComponents; q++) order[q] = q;
      order.sort((a, b) => scores[at + a] - scores[at + b] || a - b);
      out.fill(0, 0, nComponents);
      for (let k = 0; k < chosen; k++) {
        out[order[k]] += 0.5;
        out[order[nComponents - 1 - k]] += 0.5;
      }
    },
  };
}

// === Kernels: kernel_rules.py, kernel_scores.py ==================================================
//
// `fill(X, at, S, first, n, out)` gives the values of a row with the support rows from `first` on,
// of which there are `n` at most CHUNK; `diagonal(X, at)` that with itself. A view says which
// columns a kernel sees: `width` of them, the first ones unless `columns` names others.

const CHUNK = 256;
const chunk = () => new Float64Array(CHUNK);

function products(view) {
  const { columns, width } = view;
  if (columns === null) {
    return (X, at, S, first, n, out) => {
      for (let j = 0; j < n; j++) out[j] = dot(X, at, S.data, (first + j) * S.width, width);
    };
  }
  return (X, at, S, first, n, out) => {
    for (let j = 0; j < n; j++) {
      const to = (first + j) * S.width;
      let sum = 0;
      for (const c of columns) sum += X[at + c] * S.data[to + c];
      out[j] = sum;
    }
  };
}

function distances(view) {
  const { columns, width } = view;
  if (columns === null) {
    // a view of fewer columns than a row has is not one block of memory
    return (X, at, S, first, n, out) => {
      if (S.width === width) {
        squaredDistances(X, at, S.data, first, n, width, out);
        return;
      }
      for (let j = 0; j < n; j++) {
        out[j] = squaredDistance(X, at, S.data, (first + j) * S.width, width);
      }
    };
  }
  return (X, at, S, first, n, out) => {
    for (let j = 0; j < n; j++) {
      const to = (first + j) * S.width;
      let sum = 0;
      for (let c = 0; c < columns.length; c++) {
        const away = X[at + columns[c]] - S.data[to + columns[c]];
        sum += away * away;
      }
      out[j] = sum;
    }
  };
}

function squaredLength(view) {
  const { columns, width } = view;
  if (columns === null) return (X, at) => dot(X, at, X, at, width);
  return (X, at) => columns.reduce((sum, c) => sum + X[at + c] ** 2, 0);
}

const kernels = {
  Linear: (fields, view) => ({ fill: products(view), diagonal: squaredLength(view) }),

  Polynomial(fields, view) {
    const degree = number(fields.degree, "degree", 1, 1000);
    require(Number.isInteger(degree), "Polynomial", "its degree is not whole");
    const gamma = number(fields.gamma, "gamma", 1e-300);
    const coef0 = number(fields.coef0, "coef0", 0);
    const fillProducts = products(view);
    const square = squaredLength(view);
    return {
      fill(X, at, S, first, n, out) {
        fillProducts(X, at, S, first, n, out);
        for (let j = 0; j < n; j++) out[j] = (gamma * out[j] + coef0) ** degree;
      },
      diagonal: (X, at) => (gamma * square(X, at) + coef0) ** degree,
    };
  },

  Gaussian(fields, view) {
    const gamma = number(fields.gamma, "gamma", 1e-300);
    number(fields.width, "width", 1e-300);
    const fillDistances = distances(view);
    return {
      fill(X, at, S, first, n, out) {
        fillDistances(X, at, S, first, n, out);
        for (let j = 0; j < n; j++) out[j] = Math.exp(-gamma * out[j]);
      },
      diagonal: () => 1,
    };
  },

  OnColumns(fields, view) {
    const own = chosenColumns(fields.columns, view.width, "OnColumns");
    const columns = view.columns === null ? own : own.map((c) => view.columns[c]);
    return checked(fields.kernel, "kernel", [{ columns, width: columns.length }]);
  },

  Scaled(fields, view) {
    const factor = number(fields.factor, "factor", 0);
    const kernel = checked(fields.kernel, "kernel", [view]);
    return {
      fill(X, at, S, first, n, out) {
        kernel.fill(X, at, S, first, n, out);
        for (let j = 0; j < n; j++) out[j] *= factor;
      },
      diagonal: (X, at) => factor * kernel.diagonal(X, at),
    };
  },

  UnitDiagonal(fields, view) {
    const kernel = checked(fields.kernel, "kernel", [view]);
    const inverseRoot = (value) => (value > 0 ? 1 / Math.sqrt(value) : 0);
    const rootOf = (S, j) => inverseRoot(kernel.diagonal(S.data, j * S.width));
    // the support rows' own roots, kept as long as the same rows come again
    let known = null;
    let roots = null;
    const rootsOf = (S) => {
      if (known !== S) {
        known = S;
        roots = Float64Array.from({ length: S.n }, (_, j) => rootOf(S, j));
      }
      return roots;
    };
    return {
      fill(X, at, S, first, n, out) {
        kernel.fill(X, at, S, first, n, out);
        const left = inverseRoot(kernel.diagonal(X, at));
        const kept = S.mayKeep ? rootsOf(S) : null;
        for (let j = 0; j < n; j++) {
          out[j] *= left * (kept === null ? rootOf(S, first + j) : kept[first + j]);
        }
      },
      diagonal: (X, at) => (kernel.diagonal(X, at) > 0 ? 1 : 0),
    };
  },

  WeightedSum(fields, view) {
    const { weights } = fields;
    const listed = (weights instanceof Tuple && weights.items) || weights;
    require(Array.isArray(listed), "WeightedSum", "weights are missing");
    const parts = severalKernels(fields.kernels, view);
    require(listed.length === parts.length, "WeightedSum", "weights are missing");
    const shares = listed.map((weight) => number(weight, "weight", 0));
    const part = chunk();
    return {
      fill(X, at, S, first, n, out) {
        out.fill(0, 0, n);
        parts.forEach((kernel, m) => {
          kernel.fill(X, at, S, first, n, part);
          for (let j = 0; j < n; j++) out[j] += shares[m] * part[j];
        });
      },
      diagonal: (X, at) =>
        parts.reduce((sum, kernel, m) => sum + shares[m] * kernel.diagonal(X, at), 0),
    };
  },

  Product(fields, view) {
    const parts = severalKernels(fields.kernels, view);
    const part = chunk();
    return {
      fill(X, at, S, first, n, out) {
        out.fill(1, 0, n);
        for (const kernel of parts) {
          kernel.fill(X, at, S, first, n, part);
          for (let j = 0; j < n; j++) out[j] *= part[j];
        }
      },
      diagonal: (X, at) => parts.reduce((product, one) => product * one.diagonal(X, at), 1),
    };
  },

  LDKLKernel(fields, view) {
    const { tree } = fields;
    const only = [...TREES, "Mapped", "Averaged"];
    const found = checked(tree, "predictor", [view.width], only);
    const parts = tree.kind === "Averaged" ? found.members : [found];
    const good = parts.every((one) => one.nodeFeatures);
    require(good, "LDKLKernel", "its trees are none, or its rows carry gates");
    const shares = tree.kind === "Averaged" ? found.shares : [1];
    const own = view.columns === null ? null : new Float64Array(view.width);
    const other = own === null ? null : new Float64Array(view.width);
    const seen = (X, at, row) => {
      if (row === null) return [X, at];
      for (let c = 0; c < row.length; c++) row[c] = X[at + view.columns[c]];
      return [row, 0];
    };
    /** What a row's nodes and gates are, tree by tree; `visit` gets the tree, node and gate. */
    const walk = (X, at, row, visit) => {
      const [Z, to] = seen(X, at, row);
      parts.forEach((one, t) => one.nodeFeatures(Z, to, (node, gate) => visit(t, node, gate)));
    };
    const known = parts.map((one) => lazily(one.nNodes));
    return {
      fill(X, at, S, first, n, out) {
        const features = known.map((one) => one().fill(0));
        walk(X, at, own, (t, node, gate) => {
          features[t][node] = shares[t] * gate;
        });
        for (let j = 0; j < n; j++) {
          out[j] = 0;
          walk(S.data, (first + j) * S.width, other, (t, node, gate) => {
            out[j] += features[t][node] * gate;
          });
        }
      },
      diagonal(X, at) {
        let sum = 0;
        walk(X, at, own, (t, node, gate) => {
          sum += shares[t] * gate * gate;
        });
        return sum;
      },
    };
  },

  /** Rows are [x, γ]: Σ γ_m(x) γ_m(z) k_m(x, z) / Σ γ_m(x) γ_m(z). */
  PairwiseNormalizedSum(fields, view) {
    const d = count(fields.n_features, "n_features", 1, view.width);
    const nKernels = fields.kernels instanceof Tuple ? fields.kernels.items.length : -1;
    const good = d + nKernels === view.width;
    require(good, "PairwiseNormalizedSum", "its rows have another length");
    const inner = { columns: view.columns && view.columns.subarray(0, d), width: d };
    const parts = severalKernels(fields.kernels, inner);
    const place = (m) => (view.columns === null ? d + m : view.columns[d + m]);
    const part = chunk();
    const fillPart = (m, X, at, S, first, n, out) => {
      parts[m].fill(X, at, S, first, n, out);
      const c = place(m);
      for (let j = 0; j < n; j++) out[j] *= X[at + c] * S.data[(first + j) * S.width + c];
    };
    const bothGates = (X, at, Z, to) => {
      let sum = 0;
      for (let m = 0; m < parts.length; m++) sum += X[at + place(m)] * Z[to + place(m)];
      return sum;
    };
    const divide = (X, at, S, first, n, out) => {
      for (let j = 0; j < n; j++) out[j] /= bothGates(X, at, S.data, (first + j) * S.width);
    };
    return {
      fill(X, at, S, first, n, out) {
        out.fill(0, 0, n);
        for (let m = 0; m < parts.length; m++) {
          fillPart(m, X, at, S, first, n, part);
          for (let j = 0; j < n; j++) out[j] += part[j];
        }
        divide(X, at, S, first, n, out);
      },
      diagonal(X, at) {
        let sum = 0;
        parts.forEach((one, m) => (sum += X[at + place(m)] ** 2 * one.diagonal(X, at)));
        return sum / bothGates(X, at, X, at);
      },
      /** What adds up to the kernel, for explanations. */
      parts: parts.map((_, m) => (X, at, S, first, n, out) => {
        fillPart(m, X, at, S, first, n, out);
        divide(X, at, S, first, n, out);
      }),
      isPairwise: true,
    };
  },
};

function severalKernels(found, view) {
  const good = found instanceof Tuple && found.items.length > 0;
  require(good, "kernel sum", "it has no kernels");
  return found.items.map((one) => checked(one, "kernel", [view]));
}

// === Predictors: rules.py, scores.py, and what explain/ says of them ============================
//
// `row(X, at, out, to)` writes the scores of the row that begins at X[at] to out[to] and on.
// `explain(X, at)` takes the same scores apart: `intercepts` (o), and one of `coefficients` (o, d),
// `parts` (o, d + pairs) or `shares` (o, any); `active` are the components that answer, and
// `gates` how much. `single` tells the precision.

/** The scores of n rows. */
function scoresOf(predictor, X, n) {
  const { nOutputs, nFeatures } = predictor;
  const out = new Float64Array(n * nOutputs);
  if (predictor.rows) predictor.rows(X, n, out);
  else for (let i = 0; i < n; i++) predictor.row(X, i * nFeatures, out, i * nOutputs);
  return out;
}

function roundTo(single, values, at, n) {
  if (single) for (let k = at; k < at + n; k++) values[k] = Math.fround(values[k]);
}

const isSingle = (array) => array.type === "f4";

// --- local models --------------------------------------------------------------------------------

function locallyLinear(fields, d) {
  const isSparse = familyOf(fields.gate) === "sparse gate";
  const gate = checked(fields.gate, isSparse ? "sparse gate" : "gate", [d]);
  const weights = floats(fields.weights, [gate.count, null, null], "weights");
  const [, width, nOutputs] = weights.shape;
  const good = width === d || (width === 0 && isSparse);
  require(good, "LocallyLinear", "its models are of other rows");
  const biases = floats(fields.biases, [gate.count, nOutputs], "biases");
  const given = fields.intercept && floats(fields.intercept, [nOutputs], "intercept").doubles;
  if (fields.intercept !== null && !given) refuse("The model's intercept is none.");
  oneType([weights, biases, ...(isSparse ? gate.arrays : [])], "LocallyLinear");
  const single = isSingle(weights);
  const intercept = given || new Float64Array(nOutputs);
  const table = lastAxesTurned(weights.doubles, weights.shape);
  const constants = biases.doubles;
  const k = isSparse ? gate.k : gate.count;
  const indices = new Int32Array(k).map((_, q) => q);
  const values = new Float64Array(k);
  const find = isSparse
    ? (X, at) => gate.find(X, at, indices, values)
    : (X, at) => gate.values(X, at, values);
  return {
    nFeatures: d,
    nOutputs,
    single,
    row(X, at, out, to) {
      find(X, at);
      for (let o = 0; o < nOutputs; o++) {
        let sum = intercept[o];
        for (let p = 0; p < k; p++) {
          const place = indices[p] * nOutputs + o;
          sum += values[p] * (dot(X, at, table, place * width, width) + constants[place]);
        }
        out[to + o] = sum;
      }
      roundTo(single, out, to, nOutputs);
    },
    explain(X, at) {
      find(X, at);
      const found = linearParts(nOutputs, d, intercept);
      for (let p = 0; p < k; p++) {
        addModel(found, values[p], table, indices[p] * nOutputs * width, width, d);
        for (let o = 0; o < nOutputs; o++) {
          found.intercepts[o] += values[p] * constants[indices[p] * nOutputs + o];
        }
      }
      const component = isSparse ? "anchor" : "component";
      return { ...found, component, active: [...indices], gates: [...values] };
    },
  };
}

function linearParts(nOutputs, d, intercept) {
  return {
    intercepts: Float64Array.from(intercept),
    coefficients: new Float64Array(nOutputs * d),
    component: "component",
    active: [],
    gates: [],
  };
}

/** Adds gate times a linear model of (o, width) numbers that begins at `from`. */
function addModel(found, gate, table, from, width, d) {
  const nOutputs = found.intercepts.length;
  for (let o = 0; o < nOutputs; o++) {
    for (let c = 0; c < width; c++) {
      found.coefficients[o * d + c] += gate * table[from + o * width + c];
    }
  }
}

// --- trees: tree_rules.py, tree_scores.py --------------------------------------------------------

const TREES = ["TreePath", "TreeLeaves", "LinkedTree"];
const LARGEST_DEPTH = 30;
const MOST_TREE_LEVELS = 1000;
const NODE_GATES = {
  TanhNode: ["sigma"],
  CompositionalNode: [],
  IndicatorNode: [],
};

/** c of a node from the product with its direction, and from c of its parent. */
function nodeGate(gate, owner, known) {
  const isKnown = gate instanceof Part && known.includes(gate.kind);
  require(isKnown, owner, "its node gate is unknown");
  hasFields(gate, NODE_GATES[gate.kind]);
  const { kind } = gate;
  if (kind === "TanhNode") {
    const sigma = number(gate.fields.sigma, "sigma");
    return { kind, at: (reached) => Math.tanh(sigma * reached) };
  }
  if (kind === "CompositionalNode")
    return { kind, at: (reached, above) => Math.tanh(above * reached) };
  return { kind, at: () => 1 };
}

/** Nodes of a balanced tree: the children of n are 2n + 1 and 2n + 2. */
function balanced(nInner) {
  return Int32Array.from({ length: 2 * nInner }, (_, k) => k + 1);
}

function treePath(fields, d) {
  const gate = nodeGate(fields.node_gate, "TreePath", ["TanhNode", "CompositionalNode"]);
  const weights = floats(fields.weights, [null, null, d + 1], "weights");
  const [nNodes, nOutputs] = weights.shape;
  const depth = Math.round(Math.log2(nNodes + 1)) - 1;
  const complete = nNodes >= 1 && nNodes === 2 ** (depth + 1) - 1 && depth <= LARGEST_DEPTH;
  require(complete, "TreePath", "it is not complete");
  const nInner = (nNodes - 1) / 2;
  const isTanh = gate.kind === "TanhNode";
  const splits = floats(fields.splits, [null, d + 1], "splits");
  const slopes = floats(fields.slopes, [null, d + 1], "slopes");
  const nSplits = isTanh ? nInner : nNodes;
  require(splits.shape[0] === nSplits, "TreePath", "splits are missing, or too many");
  const nSlopes = isTanh ? nNodes : 0;
  require(slopes.shape[0] === nSlopes, "TreePath", "slopes are missing, or too many");
  const intercept = floats(fields.intercept, [nOutputs], "intercept");
  oneType([splits, isTanh ? slopes : null, weights, intercept], "TreePath");
  return tree({ d, gate, nNodes, children: balanced(nInner), splits, slopes, weights, intercept });
}

function treeLeaves(fields, d) {
  const weights = floats(fields.weights, [null, null, d + 1], "weights");
  const [nLeaves, nOutputs] = weights.shape;
  const depth = Math.round(Math.log2(nLeaves));
  const complete = nLeaves >= 1 && nLeaves === 2 ** depth && depth <= LARGEST_DEPTH;
  require(complete, "TreeLeaves", "it is not complete");
  const splits = floats(fields.splits, [null, d + 1], "splits");
  require(splits.shape[0] === nLeaves - 1, "TreeLeaves", "splits are missing, or too many");
  const intercept = floats(fields.intercept, [nOutputs], "intercept");
  oneType([splits, weights, intercept], "TreeLeaves");
  return tree({
    d,
    gate: { kind: "IndicatorNode", at: () => 1 },
    nNodes: 2 * nLeaves - 1,
    children: balanced(nLeaves - 1),
    splits,
    slopes: null,
    weights,
    intercept,
    before: nLeaves - 1,
  });
}

function linkedTree(fields, d) {
  const gate = nodeGate(fields.node_gate, "LinkedTree", Object.keys(NODE_GATES));
  const weights = floats(fields.weights, [null, null, d + 1], "weights");
  const [nNodes, nOutputs] = weights.shape;
  const children = treeLinks(fields.children, nNodes);
  const nInner = children.length / 2;
  const hasSlopes = gate.kind === "TanhNode";
  const splits = floats(fields.splits, [null, null], "splits");
  const slopes = floats(fields.slopes, [null, null], "slopes");
  const nSplits = gate.kind === "CompositionalNode" ? nNodes : nInner;
  require(splits.shape[0] === nSplits, "LinkedTree", "splits are missing, or too many");
  const nSlopes = hasSlopes ? nNodes : 0;
  require(slopes.shape[0] === nSlopes, "LinkedTree", "slopes are missing, or too many");
  const width = splits.shape[1];
  require(width >= 2 && width <= d + 1, "LinkedTree", "splits are of other rows");
  require(slopes.shape[1] === width, "LinkedTree", "splits and slopes see other columns");
  const intercept = floats(fields.intercept, [nOutputs], "intercept");
  oneType([splits, slopes.shape[0] ? slopes : null, weights, intercept], "LinkedTree");
  return tree({ d, gate, nNodes, children, splits, slopes, weights, intercept });
}

/** Every node but the root is the child of one before it, so that every path ends. */
function treeLinks(found, nNodes) {
  let good = found instanceof Tensor && WHOLE.includes(found.type) && found.shape.length === 2;
  good &&= nNodes >= 1 && found.shape[1] === 2 && found.shape[0] < nNodes;
  require(good, "LinkedTree", "its children have another shape");
  const children = found.doubles;
  // an array without numbers may have any number of rows: no memory for nodes that nobody names
  good = children.length >= nNodes - 1;
  const levels = new Int32Array(good ? nNodes : 1).fill(-1);
  levels[0] = 0;
  let named = 0;
  for (let k = 0; k < children.length && good; k++) {
    const child = children[k];
    const parent = k >> 1;
    if (child === -1) {
      good &&= k % 2 === 0 || children[k - 1] >= 0;
      continue;
    }
    good &&= child > parent && child < nNodes && levels[child] === -1;
    if (!good) break;
    levels[child] = levels[parent] + 1;
    named++;
  }
  require(good && named === nNodes - 1, "LinkedTree", "its children point nowhere, back or twice");
  const deepest = levels.reduce((most, level) => Math.max(most, level), 0);
  require(deepest <= MOST_TREE_LEVELS, "LinkedTree", `it has more than ${MOST_TREE_LEVELS} levels`);
  return Int32Array.from(children);
}

function tree({ d, gate, nNodes, children, splits, slopes, weights, intercept, before = 0 }) {
  const nOutputs = intercept.size;
  const single = isSingle(weights);
  const seen = splits.shape[1] - 1; // columns that splits see: the last ones
  const hidden = d - seen;
  const turns = splits.doubles;
  const hasSlopes = gate.kind === "TanhNode";
  const own = hasSlopes ? slopes.doubles : turns;
  const isComposed = gate.kind === "CompositionalNode";
  const endsAlone = gate.kind === "IndicatorNode";
  const models = weights.doubles;
  const constants = intercept.doubles;
  const nInner = children.length / 2;
  const along = (X, at, table, node) =>
    dot(X, at + hidden, table, node * (seen + 1), seen) + table[node * (seen + 1) + seen];
  const told = (X, at, place) =>
    dot(X, at, models, place * (d + 1), d) + models[place * (d + 1) + d];

  /** Calls visit(node, gate, isLast) for the nodes on a row's way. */
  function nodesOf(X, at, visit) {
    let node = 0;
    let above = 1;
    for (;;) {
      let after = -1;
      const turn = node < nInner || isComposed ? along(X, at, turns, node) : 0;
      if (node < nInner) after = children[2 * node + (turn > 0 ? 0 : 1)];
      let c = 1;
      if (!endsAlone) {
        c = gate.at(isComposed ? turn : along(X, at, own, node), above);
        if (isComposed) above = c;
      }
      visit(node, c, after < 0);
      if (after < 0) return;
      node = after;
    }
  }

  return {
    nFeatures: d,
    nOutputs,
    single,
    nNodes,
    weightsType: weights.type,
    nodeFeatures: nodesOf,
    row(X, at, out, to) {
      for (let o = 0; o < nOutputs; o++) out[to + o] = constants[o];
      let node = 0;
      let above = 1;
      while (node >= 0) {
        let after = -1;
        const turn = node < nInner || isComposed ? along(X, at, turns, node) : 0;
        if (node < nInner) after = children[2 * node + (turn > 0 ? 0 : 1)];
        if (!endsAlone) {
          const c = gate.at(isComposed ? turn : along(X, at, own, node), above);
          above = c;
          for (let o = 0; o < nOutputs; o++) out[to + o] += c * told(X, at, node * nOutputs + o);
        } else if (after < 0) {
          for (let o = 0; o < nOutputs; o++) {
            out[to + o] += told(X, at, (node - before) * nOutputs + o);
          }
        }
        node = after;
      }
      roundTo(single, out, to, nOutputs);
    },
    explain(X, at) {
      const found = linearParts(nOutputs, d, constants);
      found.component = "node";
      nodesOf(X, at, (node, c, isLast) => {
        found.active.push(node);
        found.gates.push(c);
        if (endsAlone && !isLast) return;
        const first = (node - before) * nOutputs;
        for (let o = 0; o < nOutputs; o++) {
          const from = (first + o) * (d + 1);
          for (let j = 0; j < d; j++) found.coefficients[o * d + j] += c * models[from + j];
          found.intercepts[o] += c * models[from + d];
        }
      });
      return found;
    },
  };
}

// --- conformal kernels ---------------------------------------------------------------------------

const PROFILES = {
  exponential: { ofRoot: true, at: (u) => Math.exp(-u) },
  gaussian: { ofRoot: false, at: (u) => Math.exp(-u) },
  linear: { ofRoot: true, at: (u) => Math.max(1 - u, 0) },
  square: { ofRoot: false, at: (u) => Math.max(1 - u, 0) },
};

function conformalLinear(fields, d) {
  const name = "ConformalLinear";
  const anchors = floats(fields.anchors, [null, d], "anchors");
  const nKernels = anchors.shape[0];
  const gammas = floats(fields.gammas, [nKernels], "gammas").doubles;
  require(gammas.every((gamma) => gamma >= 0), name, "its gammas are negative");
  const weights = floats(fields.weights, [null, d], "weights");
  const nTerms = weights.shape[0];
  const biases = floats(fields.biases, [null], "biases");
  const nOutputs = biases.size;
  const isKnown = typeof fields.profile === "string" && Object.hasOwn(PROFILES, fields.profile);
  require(isKnown, name, "its profile is unknown");
  const { ofRoot, at: fade } = PROFILES[fields.profile];
  const perFeature = boolean(fields.per_feature, name, "per_feature");
  const [kernelOf, outputOf] = ["kernels", "outputs"].map((field) => {
    const found = wholeNumbers(fields[field], name, `${field} point nowhere`);
    const most = field === "kernels" ? nKernels : nOutputs;
    const good = found.length === nTerms && found.every((one) => one >= 0 && one < most);
    require(good, name, `${field} point nowhere`);
    return Int32Array.from(found);
  });
  const inOrder = kernelOf.every((one, p) => p === 0 || one >= kernelOf[p - 1]);
  require(inOrder, name, "kernels are out of order");
  const single = isSingle(weights);
  const centers = anchors.doubles;
  const table = weights.doubles;
  const constants = biases.doubles;
  const away = lazily(d);
  const shares = lazily(d);

  /** x − c and h of a kernel; with one h for all features, that in the first place. */
  function reach(X, at, kernel, u, h) {
    let square = 0;
    for (let j = 0; j < d; j++) {
      u[j] = X[at + j] - centers[kernel * d + j];
      if (perFeature) h[j] = fade((ofRoot ? Math.abs(u[j]) : u[j] * u[j]) * gammas[kernel]);
      else square += u[j] * u[j];
    }
    if (!perFeature) h[0] = fade((ofRoot ? Math.sqrt(square) : square) * gammas[kernel]);
  }

  function meanOf(h) {
    let sum = 0;
    for (let j = 0; j < d; j++) sum += h[j];
    return perFeature ? sum / d : h[0];
  }

  return {
    nFeatures: d,
    nOutputs,
    single,
    row(X, at, out, to) {
      const u = away();
      const h = shares();
      for (let o = 0; o < nOutputs; o++) out[to + o] = constants[o];
      for (let p = 0; p < nTerms; p++) {
        if (p === 0 || kernelOf[p] !== kernelOf[p - 1]) {
          reach(X, at, kernelOf[p], u, h);
          if (perFeature) for (let j = 0; j < d; j++) u[j] *= h[j];
        }
        const sum = dot(u, 0, table, p * d, d);
        out[to + outputOf[p]] += perFeature ? sum : h[0] * sum;
      }
      roundTo(single, out, to, nOutputs);
    },
    explain(X, at) {
      const [u, h] = [away(), shares()];
      const found = linearParts(nOutputs, d, constants);
      let p = 0;
      for (let k = 0; k < nKernels; k++) {
        reach(X, at, k, u, h);
        found.active.push(k);
        found.gates.push(meanOf(h));
        for (; p < nTerms && kernelOf[p] === k; p++) {
          const o = outputOf[p];
          for (let j = 0; j < d; j++) {
            const slope = (perFeature ? h[j] : h[0]) * table[p * d + j];
            found.coefficients[o * d + j] += slope;
            found.intercepts[o] -= slope * centers[k * d + j];
          }
        }
      }
      return { ...found, component: "kernel" };
    },
    /** The largest h of any kernel: 0 where none reaches. */
    support(X, at) {
      let most = 0;
      for (let k = 0; k < nKernels; k++) {
        reach(X, at, k, away(), shares());
        most = Math.max(most, meanOf(shares()));
      }
      return single ? Math.fround(most) : most;
    },
  };
}

// --- cells ---------------------------------------------------------------------------------------

function gaussianCells(fields, d) {
  const name = "GaussianCells";
  const { cells } = fields;
  require(cells instanceof Part && cells.kind === "Cells", name, "its cells are odd");
  hasFields(cells, ["centers", "groups", "firsts"]);
  const centers = floats(cells.fields.centers, [null, d], "centers");
  const nCells = centers.shape[0];
  require(nCells >= 1, name, "it has no cells");
  let groups = null;
  let firsts = null;
  if (cells.fields.groups === null) {
    require(cells.fields.firsts === null, name, "its groups are missing");
  } else {
    groups = floats(cells.fields.groups, [null, d], "groups");
    firsts = ends(cells.fields.firsts, groups.shape[0], nCells, "cells");
    const good = firsts.every((first, g) => g === 0 || first > firsts[g - 1]);
    require(good, name, "a group has no cells");
  }
  const gamma = number(fields.gamma, "gamma", 1e-300);
  const landmarks = floats(fields.landmarks, [null, d], "landmarks");
  const nLandmarks = landmarks.shape[0];
  const starts = ends(fields.starts, nCells, nLandmarks, "landmarks");
  const biases = floats(fields.biases, [nCells, null], "biases");
  const nOutputs = biases.shape[1];
  const slopes = floats(fields.slopes, [nLandmarks, nOutputs, d], "slopes");
  const offsets = floats(fields.offsets, [nLandmarks, nOutputs], "offsets");
  oneType([landmarks, slopes, offsets, biases, centers, groups], name);
  const [C, G, L, W, B, V] = [centers, groups, landmarks, slopes, offsets, biases].map(
    (array) => array && array.doubles,
  );
  const away = lazily(d);
  function cellOf(X, at) {
    if (G === null) return nearestRow(X, at, C, 0, nCells, d);
    const group = nearestRow(X, at, G, 0, firsts.length - 1, d);
    return nearestRow(X, at, C, firsts[group], firsts[group + 1], d);
  }
  return {
    nFeatures: d,
    nOutputs,
    single: false, // sums of a file's single numbers are double here, as in Python's runtime
    row(X, at, out, to) {
      const cell = cellOf(X, at);
      const u = away();
      for (let o = 0; o < nOutputs; o++) out[to + o] = V[cell * nOutputs + o];
      for (let j = starts[cell]; j < starts[cell + 1]; j++) {
        for (let c = 0; c < d; c++) u[c] = X[at + c] - L[j * d + c];
        const h = Math.exp(-gamma * dot(u, 0, u, 0, d));
        for (let o = 0; o < nOutputs; o++) {
          const place = j * nOutputs + o;
          out[to + o] += h * (B[place] + dot(u, 0, W, place * d, d));
        }
      }
    },
    explain(X, at) {
      const cell = cellOf(X, at);
      const found = linearParts(nOutputs, d, V.subarray(cell * nOutputs, (cell + 1) * nOutputs));
      for (let j = starts[cell]; j < starts[cell + 1]; j++) {
        const h = Math.exp(-gamma * squaredDistance(X, at, L, j * d, d));
        found.active.push(j);
        found.gates.push(h);
        addModel(found, h, W, j * nOutputs * d, d, d);
        for (let o = 0; o < nOutputs; o++) {
          const place = j * nOutputs + o;
          found.intercepts[o] += h * (B[place] - dot(W, place * d, L, j * d, d));
        }
      }
      return { ...found, component: "landmark", region: cell };
    },
  };
}

/** Where the items of each part begin, and the end of the last. */
function ends(found, nParts, nItems, name) {
  const what = `its ${name} are out of order`;
  const numbers = wholeNumbers(found, "GaussianCells", what);
  const good = numbers.length === nParts + 1 && isAscending(numbers, 0, nItems);
  require(good, "GaussianCells", what);
  return Int32Array.from(numbers);
}

// --- kernel machines -----------------------------------------------------------------------------

const MOST_NUMBERS = 2 ** 21; // of sparse support rows that are filled in, at once

function kernelExpansion(fields, d) {
  const name = "KernelExpansion";
  count(fields.n_features, "n_features", 1, d);
  const machines = severalKernels(fields.kernels, { columns: null, width: d });
  const strips = supportRows(fields.support, d, machines.length);
  const biases = floats(fields.biases, [null], "biases");
  const nOutputs = biases.size;
  require(nOutputs >= 1, name, "it has no outputs");
  let owners = null;
  let shape = [machines.length, strips.n, nOutputs];
  if (fields.owners !== null) {
    const good = fields.owners instanceof Tuple && fields.owners.items.length === nOutputs;
    require(good, name, "some outputs have no kernel");
    owners = fields.owners.items.map((one) => count(one, "owner", 0, machines.length - 1));
    shape = [nOutputs, strips.n];
  }
  const coefficients = floats(fields.coefficients, shape, "coefficients");
  const single = isSingle(coefficients);
  const table = coefficients.doubles;
  const constants = biases.doubles;
  const values = chunk();

  /** Adds values times coefficients of the support rows from `first` on. */
  function add(m, first, n, out, to) {
    if (owners === null) {
      const from = (m * strips.n + first) * nOutputs;
      if (nOutputs === 1) {
        out[to] += dot(values, 0, table, from, n);
        return;
      }
      for (let j = 0; j < n; j++) {
        for (let o = 0; o < nOutputs; o++)
          out[to + o] += values[j] * table[from + j * nOutputs + o];
      }
      return;
    }
    for (let o = 0; o < nOutputs; o++) {
      if (owners[o] === m) out[to + o] += dot(values, 0, table, o * strips.n + first, n);
    }
  }

  /** Calls visit(m) when `values` holds kernel m at a row and support rows from `first` on. */
  function eachChunk(S, X, at, evaluate, visit) {
    for (let start = 0; start < S.n; start += CHUNK) {
      const n = Math.min(CHUNK, S.n - start);
      evaluate.forEach((fill, m) => {
        fill(X, at, S, start, n, values);
        visit(m, S.first + start, n);
      });
    }
  }
  const fills = machines.map((kernel) => kernel.fill);

  return {
    nFeatures: d,
    nOutputs,
    single,
    isPairwise: machines.every((kernel) => kernel.isPairwise),
    row(X, at, out, to) {
      for (let o = 0; o < nOutputs; o++) out[to + o] = constants[o];
      for (const S of strips.all()) {
        eachChunk(S, X, at, fills, (m, first, n) => add(m, first, n, out, to));
      }
      roundTo(single, out, to, nOutputs);
    },
    rows(X, n, out) {
      for (let i = 0; i < n; i++) out.set(constants, i * nOutputs);
      for (const S of strips.all()) {
        for (let i = 0; i < n; i++) {
          eachChunk(S, X, i * d, fills, (m, first, n) => add(m, first, n, out, i * nOutputs));
        }
      }
      roundTo(single, out, 0, out.length);
    },
    /** Shares of the kernels; those of a pairwise sum are its parts'. */
    explain(X, at) {
      const parted = machines.flatMap((kernel, m) =>
        (kernel.parts ?? [kernel.fill]).map((fill) => ({ fill, m })),
      );
      const shares = new Float64Array(nOutputs * parted.length);
      const sums = new Float64Array(nOutputs);
      for (const S of strips.all()) {
        eachChunk(
          S,
          X,
          at,
          parted.map((one) => one.fill),
          (k, first, n) => {
            sums.fill(0);
            add(parted[k].m, first, n, sums, 0);
            for (let o = 0; o < nOutputs; o++) shares[o * parted.length + k] += sums[o];
          },
        );
      }
      return { intercepts: Float64Array.from(constants), shares, component: "kernel" };
    },
  };
}

/** Support rows in strips: sparse ones are filled in a few at a time, if they are many. */
function supportRows(support, d, nKernels) {
  if (!support?.isSparse) {
    const found = floats(support, [null, d], "support");
    const n = found.shape[0];
    const mayKeep = n * nKernels <= MOST_NUMBERS;
    const only = [{ data: found.doubles, n, width: d, first: 0, mayKeep }];
    return { n, all: () => only };
  }
  const shape = support.shape instanceof Tuple ? support.shape.items : support.shape;
  require(shape[1] === d, "KernelExpansion", "support rows have another length");
  const data = floats(support.data, [null], "support").doubles;
  const indices = support.indices.doubles;
  const starts = support.indptr.doubles;
  const step = Math.max(1, Math.floor(MOST_NUMBERS / Math.max(1, d)));
  const fill = (first) => {
    const n = Math.min(step, shape[0] - first);
    const rows = new Float64Array(n * d);
    for (let j = 0; j < n; j++) {
      for (let k = starts[first + j]; k < starts[first + j + 1]; k++) {
        rows[j * d + indices[k]] += data[k];
      }
    }
    return { data: rows, n, width: d, first, mayKeep: n * nKernels <= MOST_NUMBERS };
  };
  let only = null;
  function* all() {
    if (shape[0] <= step) yield (only ??= fill(0));
    else for (let first = 0; first < shape[0]; first += step) yield fill(first);
  }
  return { n: shape[0], all };
}

function gatedExpansion(fields, d) {
  const bias = number(fields.bias, "bias");
  const { activation } = fields;
  const isKnown = activation === "identity" || activation === "tanh";
  require(isKnown, "GatedExpansion", "its activation is unknown");
  const components = checked(fields.components, "predictor", [d], ["KernelExpansion"]);
  const q = components.nOutputs;
  const readsScores = familyOf(fields.gate) === "score gate";
  const gate = readsScores
    ? checked(fields.gate, "score gate", [q])
    : checked(fields.gate, "gate", [d]);
  require(gate.count === q, "GatedExpansion", "gate and components differ in number");
  const scores = new Float64Array(q);
  const gates = new Float64Array(q);
  /** The components' parts in the score, in the place of their scores. */
  function blend(X, at) {
    components.row(X, at, scores, 0);
    if (readsScores) gate.values(scores, 0, gates);
    else gate.values(X, at, gates);
    if (activation === "tanh") for (let k = 0; k < q; k++) scores[k] = Math.tanh(scores[k]);
    for (let k = 0; k < q; k++) scores[k] *= gates[k];
  }
  return {
    nFeatures: d,
    nOutputs: 1,
    single: components.single,
    row(X, at, out, to) {
      blend(X, at);
      let sum = bias;
      for (let k = 0; k < q; k++) sum += scores[k];
      out[to] = sum;
      roundTo(components.single, out, to, 1);
    },
    explain(X, at) {
      blend(X, at);
      return {
        intercepts: Float64Array.of(bias),
        shares: Float64Array.from(scores),
        ...gatesTold("component", gates),
      };
    },
  };
}

const gatesTold = (component, gates) => ({
  component,
  active: Array.from(gates, (_, k) => k),
  gates: [...gates],
});

// --- maps, and predictors of others --------------------------------------------------------------

/** A map has `width` and `row(X, at, out)`; what is mapped in single precision is rounded to it. */
const maps = {
  Affine(fields, d) {
    const matrix = floats(fields.matrix, [null, d + 1], "matrix");
    const [m] = matrix.shape;
    const table = matrix.doubles;
    const single = isSingle(matrix);
    return {
      width: m,
      type: matrix.type,
      row(X, at, out) {
        for (let k = 0; k < m; k++) {
          out[k] = dot(X, at, table, k * (d + 1), d) + table[k * (d + 1) + d];
        }
        roundTo(single, out, 0, m);
      },
      /** A linear model of A x + a is one of x. */
      explained(found, X, at) {
        const parts = linearParts(found.intercepts.length, d, found.intercepts);
        for (let o = 0; o < found.intercepts.length; o++) {
          for (let k = 0; k < m; k++) {
            const slope = found.coefficients[o * m + k];
            for (let j = 0; j < d; j++) {
              parts.coefficients[o * d + j] += slope * table[k * (d + 1) + j];
            }
            parts.intercepts[o] += slope * table[k * (d + 1) + d];
          }
        }
        return parts;
      },
    };
  },

  WithGates(fields, d) {
    count(fields.n_features, "n_features", 1, d);
    const gate = checked(fields.gate, "gate", [d]);
    const values = lazily(gate.count);
    return {
      width: d + gate.count,
      type: null,
      d,
      row(X, at, out) {
        for (let j = 0; j < d; j++) out[j] = X[at + j];
        gate.values(X, at, values());
        out.set(values(), d);
      },
    };
  },

  /** [z_i z_j for i ≤ j, z] of z = (x − center) / scale. */
  Quadratic(fields, d) {
    const center = floats(fields.center, [d], "center");
    const single = isSingle(center);
    const middle = center.doubles;
    const given = number(fields.scale, "scale", 1e-300);
    const scale = single ? Math.fround(given) : given;
    const width = (d * (d + 3)) / 2;
    const first = width - d;
    return {
      width,
      type: center.type,
      row(X, at, out) {
        for (let j = 0; j < d; j++) {
          const away = X[at + j] - middle[j];
          out[first + j] = (single ? Math.fround(away) : away) / scale;
        }
        roundTo(single, out, first, d);
        let place = 0;
        for (let i = 0; i < d; i++) {
          for (let j = i; j < d; j++) out[place++] = out[first + i] * out[first + j];
        }
        roundTo(single, out, 0, first);
      },
      /** Half of a product belongs to each of its two features. */
      explained(found, X, at) {
        const nOutputs = found.intercepts.length;
        const parts = linearParts(nOutputs, d, found.intercepts);
        const z = (j) => (X[at + j] - middle[j]) / given;
        for (let o = 0; o < nOutputs; o++) {
          const slopes = parts.coefficients.subarray(o * d, (o + 1) * d);
          for (let j = 0; j < d; j++) slopes[j] = found.coefficients[o * width + first + j];
          let place = 0;
          for (let i = 0; i < d; i++) {
            for (let j = i; j < d; j++, place++) {
              const half = 0.5 * found.coefficients[o * width + place];
              slopes[i] += half * z(j);
              slopes[j] += half * z(i);
            }
          }
          for (let j = 0; j < d; j++) {
            slopes[j] /= given;
            parts.intercepts[o] -= slopes[j] * middle[j];
          }
        }
        return parts;
      },
    };
  },
};

function mapped(fields, d) {
  const kind = fields.map instanceof Part ? fields.map.kind : null;
  const map = checked(fields.map, "map", [d]);
  const only = {
    WithGates: ["KernelExpansion"],
    Affine: TREES,
    Quadratic: TREES,
  }[kind];
  const inner = checked(fields.predictor, "predictor", [map.width], only);
  if (kind === "WithGates") {
    require(inner.isPairwise, "Mapped", "its kernels do not read gates");
  } else if (inner.weightsType) {
    const same = map.type === inner.weightsType;
    if (!same) refuse("The model's Mapped has arrays of several types.");
  }
  const rows = lazily(map.width);
  return {
    nFeatures: d,
    nOutputs: inner.nOutputs,
    single: inner.single,
    nNodes: inner.nNodes,
    nodeFeatures:
      inner.nodeFeatures &&
      ((X, at, visit) => {
        map.row(X, at, rows());
        inner.nodeFeatures(rows(), 0, visit);
      }),
    row(X, at, out, to) {
      map.row(X, at, rows());
      inner.row(rows(), 0, out, to);
    },
    explain(X, at) {
      map.row(X, at, rows());
      const found = inner.explain(rows(), 0);
      if (kind === "WithGates")
        return { ...found, ...gatesTold("component", rows().subarray(map.d)) };
      const { component, active, gates } = found;
      return { ...map.explained(found, X, at), component, active, gates };
    },
  };
}

function stacked(fields, d) {
  const good = fields.outputs instanceof Tuple && fields.outputs.items.length > 0;
  require(good, "Stacked", "it has no outputs");
  const only = ["LocallyLinear", "GatedExpansion", "Mapped"];
  const outputs = fields.outputs.items.map((one) => checked(one, "predictor", [d], only));
  const alone = outputs.every((one) => one.nOutputs === 1);
  require(alone, "Stacked", "its parts have several outputs");
  return {
    nFeatures: d,
    nOutputs: outputs.length,
    single: outputs[0].single,
    row(X, at, out, to) {
      outputs.forEach((one, o) => one.row(X, at, out, to + o));
    },
    explain(X, at) {
      const found = outputs.map((one) => one.explain(X, at));
      const joined = (name) =>
        found.every((one) => one[name]?.length === found[0][name]?.length && one[name])
          ? Float64Array.from(found.flatMap((one) => [...one[name]]))
          : null;
      const [coefficients, shares] = [joined("coefficients"), joined("shares")];
      if (!coefficients && !shares) throw new Error("Parts of several kinds have no explanation.");
      return {
        intercepts: joined("intercepts"),
        coefficients,
        shares,
        component: found[0].component,
        active: found[0].active && found.map((one) => one.active),
        gates: found[0].gates && found.map((one) => one.gates),
      };
    },
  };
}

/** What adds up is the logarithm of a value. */
function exponential(fields, d) {
  const inner = checked(fields.predictor, "predictor", [d], ["Forest"]);
  return {
    ...inner,
    row: (X, at, out, to) => {
      inner.row(X, at, out, to);
      for (let o = 0; o < inner.nOutputs; o++) out[to + o] = Math.exp(out[to + o]);
      roundTo(inner.single, out, to, inner.nOutputs);
    },
    rows: (X, n, out) => {
      inner.rows(X, n, out);
      for (let k = 0; k < out.length; k++) out[k] = Math.exp(out[k]);
      roundTo(inner.single, out, 0, out.length);
    },
  };
}

// --- sums of curves and of other models: sums.py -------------------------------------------------

function additive(fields, d) {
  const weights = floats(fields.weights, [d, null], "weights");
  const nOutputs = weights.shape[1];
  const intercept = floats(fields.intercept, [nOutputs], "intercept");
  const knots = floats(fields.knots, [null], "knots");
  const values = floats(fields.values, [knots.size, nOutputs], "values");
  const what = "its columns have other knots than it has";
  const firsts = wholeNumbers(fields.firsts, "Additive", what);
  require(firsts.length === d + 1 && isAscending(firsts, 0, knots.size), "Additive", what);
  const at = knots.doubles;
  for (let j = 0; j < d; j++) {
    require(firsts[j + 1] - firsts[j] !== 1, "Additive", "a column has one knot alone");
    for (let k = firsts[j] + 1; k < firsts[j + 1]; k++) {
      require(at[k] > at[k - 1], "Additive", "its knots are not ascending");
    }
  }
  oneType([weights, intercept, knots, values], "Additive");
  const single = isSingle(weights);
  const [W, V, constants] = [weights, values, intercept].map((array) => array.doubles);
  return {
    nFeatures: d,
    nOutputs,
    single,
    row(X, from, out, to) {
      for (let o = 0; o < nOutputs; o++) out[to + o] = constants[o];
      for (let j = 0; j < d; j++) {
        const x = X[from + j];
        const isBent = firsts[j + 1] > firsts[j];
        for (let o = 0; o < nOutputs; o++) {
          out[to + o] += x * W[j * nOutputs + o];
          if (isBent) out[to + o] += onLine(x, at, firsts[j], firsts[j + 1], V, nOutputs, o);
        }
      }
      roundTo(single, out, to, nOutputs);
    },
    /** Of each column the line of the interval that the row is in. */
    explain(X, from) {
      const found = linearParts(nOutputs, d, constants);
      for (let j = 0; j < d; j++) {
        const [first, last] = [firsts[j], firsts[j + 1]];
        const place = lowerBound(at, first, last, X[from + j]); // the first: below all knots
        const near = Math.max(place - 1, first);
        for (let o = 0; o < nOutputs; o++) {
          found.coefficients[o * d + j] = W[j * nOutputs + o];
          if (first === last) continue;
          const inside = place > first && place < last;
          const rise = inside ? V[place * nOutputs + o] - V[near * nOutputs + o] : 0;
          const slope = inside ? rise / (at[place] - at[near]) : 0;
          found.coefficients[o * d + j] += slope;
          found.intercepts[o] += V[near * nOutputs + o] - slope * at[near];
        }
      }
      return { ...found, active: [0], gates: [1] };
    },
  };
}

// --- layers of units that bend: hinges.py --------------------------------------------------------

function hinges(fields, d) {
  const { weights, biases } = fields;
  let good = weights instanceof Tuple && biases instanceof Tuple;
  good &&= weights.items.length === biases.items.length && weights.items.length >= 2;
  require(good, "Hinges", "its layers are not whole, or less than two");
  let width = d;
  const layers = weights.items.map((given, l) => {
    const table = floats(given, [width, null], "weights");
    const from = width;
    width = table.shape[1];
    require(width >= 1, "Hinges", "a layer has no units");
    const offsets = floats(biases.items[l], [width], "biases");
    const turned = lastAxesTurned(table.doubles, [1, from, width]);
    return { table: turned, offsets: offsets.doubles, from, n: width, z: lazily(width) };
  });
  oneType([...weights.items, ...biases.items], "Hinges");
  const nOutputs = width;
  const single = isSingle(weights.items[0]);
  const last = layers.length - 1;
  /** Values of all units; those of the last layer are scores. */
  function run(X, at) {
    for (let l = 0; l <= last; l++) {
      const { table, offsets, from, n, z } = layers[l];
      const out = z();
      for (let u = 0; u < n; u++) {
        const value = dot(X, at, table, u * from, from) + offsets[u];
        out[u] = l < last && !(value > 0) ? (value !== value ? value : 0) : value;
      }
      X = out;
      at = 0;
    }
    return X;
  }
  return {
    nFeatures: d,
    nOutputs,
    single,
    row(X, at, out, to) {
      const scores = run(X, at);
      for (let o = 0; o < nOutputs; o++) out[to + o] = scores[o];
      roundTo(single, out, to, nOutputs);
    },
    /** The slopes of the units that count, from the scores back to the columns. */
    explain(X, at) {
      run(X, at);
      const gates = layers.slice(0, last).flatMap(({ z }) => [...z()].map((v) => (v > 0 ? 1 : 0)));
      const intercepts = Float64Array.from(layers[last].offsets);
      let slopes = layers[last].table; // (o, units of the layer before)
      for (let l = last - 1; l >= 0; l--) {
        const { table, offsets, from, n, z } = layers[l];
        const before = new Float64Array(nOutputs * from);
        for (let o = 0; o < nOutputs; o++) {
          for (let u = 0; u < n; u++) {
            if (!(z()[u] > 0)) continue;
            const slope = slopes[o * n + u];
            intercepts[o] += slope * offsets[u];
            for (let j = 0; j < from; j++) before[o * from + j] += slope * table[u * from + j];
          }
        }
        slopes = before;
      }
      return { intercepts, coefficients: slopes, ...gatesTold("unit", gates) };
    },
  };
}

const LARGEST_WEIGHT = 1e6;
const FLOOR = 1e-6; // of mean probabilities that become scores
const LARGEST_SCORE = 1e30; // that is calibrated

/** Rows as a part takes them that may be in another precision than the whole. */
function seenBy(part, single, X, at) {
  if (!part.single || single) return [X, at];
  return [new Float64Array(new Float32Array(X.subarray(at, at + part.nFeatures))), 0];
}

function averaged(fields, d) {
  const { members: listed, weights: given, calibrations: told } = fields;
  const some = listed instanceof Tuple && listed.items.length > 0;
  require(some, "Averaged", "it is of nothing");
  const members = listed.items.map((one) => checked(one, "predictor", [d]));
  const { nOutputs } = members[0];
  const alike = members.every((one) => one.nOutputs === nOutputs);
  require(alike, "Averaged", "its members differ in outputs");
  const isWeight = (one) => one instanceof Real && one.value > 0 && one.value <= LARGEST_WEIGHT;
  let good = given instanceof Tuple && given.items.length === members.length;
  good &&= given.items.every(isWeight);
  require(good, "Averaged", "its weights are odd");
  const weights = given.items.map((one) => one.value);
  good = told instanceof Tuple && [0, members.length].includes(told.items.length);
  require(good, "Averaged", "not all members are calibrated");
  const calibrations = told.items.map((one) => checked(one, "calibration", [nOutputs]));
  const single = members.every((one) => one.single);
  const total = weights.reduce((sum, one) => sum + one, 0);
  const shares = weights.map((one) => one / total);
  const nClasses = nOutputs === 1 ? 2 : nOutputs;
  const scores = new Float64Array(nOutputs);
  const chances = new Float64Array(nClasses);
  const means = new Float64Array(nClasses);
  const limit = (score) => Math.min(Math.max(score, -LARGEST_SCORE), LARGEST_SCORE);

  /** Scores of which the log loss makes the mean probabilities. */
  function averagedScores(scoreOf, out, to) {
    means.fill(0);
    calibrations.forEach((calibration, m) => {
      const given = scoreOf(m);
      for (let o = 0; o < nOutputs; o++) scores[o] = limit(given[o]);
      calibration.chances(scores, 0, chances, 0);
      for (let k = 0; k < nClasses; k++) means[k] += weights[m] * chances[k];
    });
    for (let k = 0; k < nClasses; k++) means[k] = Math.log(Math.max(means[k] / total, FLOOR));
    if (nOutputs === 1) out[to] = means[1] - means[0];
    else for (let k = 0; k < nClasses; k++) out[to + k] = means[k];
  }

  const own = new Float64Array(nOutputs);
  function scoresOfMember(m, X, at) {
    const [Z, from] = seenBy(members[m], single, X, at);
    members[m].row(Z, from, own, 0);
    return own;
  }
  return {
    nFeatures: d,
    nOutputs,
    single,
    members,
    shares,
    takesMissing: members.every((one) => one.takesMissing),
    row(X, at, out, to) {
      if (calibrations.length) {
        averagedScores((m) => scoresOfMember(m, X, at), out, to);
      } else {
        for (let o = 0; o < nOutputs; o++) out[to + o] = 0;
        for (let m = 0; m < members.length; m++) {
          const found = scoresOfMember(m, X, at);
          for (let o = 0; o < nOutputs; o++) out[to + o] += weights[m] * found[o];
        }
        for (let o = 0; o < nOutputs; o++) out[to + o] /= total;
      }
      roundTo(single, out, to, nOutputs);
    },
    explain(X, at) {
      const rows = members.map((one) => seenBy(one, single, X, at));
      const found = members.map((one, m) => withScores(one.explain(...rows[m]), ...rows[m], d));
      const slopes = calibrations.length
        ? meanSlopes(calibrations, shares, found, nOutputs)
        : shares.map((share) => identity(nOutputs).map((one) => share * one));
      const whole = joinedMembers(found, slopes, nOutputs, d);
      if (!calibrations.length) {
        for (let o = 0; o < nOutputs; o++) {
          whole.intercepts[o] = found.reduce(
            (sum, one, m) => sum + shares[m] * one.intercepts[o],
            0,
          );
        }
        const [first] = found;
        const arePaths = found.every((one) => one.component === "node");
        if (arePaths) {
          const both = {
            active: found.map((one) => one.active),
            gates: found.map((one) => one.gates),
          };
          return { ...whole, component: first.component, ...both };
        }
      } else {
        const wanted = new Float64Array(nOutputs);
        averagedScores((m) => found[m].scores, wanted, 0);
        const { scores: added } = withScores(whole, X, at, d);
        for (let o = 0; o < nOutputs; o++) whole.intercepts[o] = wanted[o] - added[o];
      }
      return { ...whole, ...gatesTold("member", shares) };
    },
  };
}

function identity(n) {
  return Float64Array.from({ length: n * n }, (_, k) => (k % (n + 1) === 0 ? 1 : 0));
}

// --- an average taken apart: explain/averaged.py -------------------------------------------------

const STEPS = 16;
const NEAR = 1e-9; // numbers that are no further apart have a slope and no secant

/** An explanation with each column's contribution and with its parts added up. */
function withScores(found, X, at, d) {
  const nOutputs = found.intercepts.length;
  let contributions = found.parts ?? null;
  if (found.coefficients) {
    contributions = found.coefficients.map((slope, k) => slope * X[at + (k % d)]);
  }
  const added = contributions ?? found.shares;
  const width = added.length / nOutputs;
  const scores = found.intercepts.map((intercept, o) => {
    let sum = intercept;
    for (let k = 0; k < width; k++) sum += added[o * width + k];
    return sum;
  });
  return { ...found, contributions, scores };
}

/** One explanation in the form that all members share; `slopes` are (o, o) for each of them. */
function joinedMembers(found, slopes, nOutputs, d) {
  const intercepts = new Float64Array(nOutputs);
  const times = (slope, table) => {
    const width = table.length / nOutputs;
    const product = new Float64Array(table.length);
    for (let o = 0; o < nOutputs; o++) {
      for (let k = 0; k < nOutputs; k++) {
        const factor = slope[o * nOutputs + k];
        for (let c = 0; c < width; c++) product[o * width + c] += factor * table[k * width + c];
      }
    }
    return product;
  };
  if (found.every((one) => one.coefficients)) {
    const coefficients = new Float64Array(nOutputs * d);
    found.forEach((one, m) => {
      times(slopes[m], one.coefficients).forEach((value, k) => (coefficients[k] += value));
    });
    return { intercepts, coefficients };
  }
  if (found.every((one) => one.contributions)) {
    const pairs = found.flatMap((one) => one.pairs ?? []);
    const width = d + pairs.length;
    const parts = new Float64Array(nOutputs * width);
    let next = d;
    found.forEach((one, m) => {
      const own = d + (one.pairs?.length ?? 0);
      times(slopes[m], one.contributions).forEach((value, k) => {
        const c = k % own;
        parts[Math.floor(k / own) * width + (c < d ? c : next + c - d)] += value;
      });
      next += own - d;
    });
    return { intercepts, parts, pairs };
  }
  const ordered = [...found.keys()].sort((a, b) => !found[a].shares - !found[b].shares || a - b);
  const tables = ordered.map((m) => {
    const one = found[m];
    const sums = one.scores.map((score, o) => score - one.intercepts[o]);
    return times(slopes[m], one.shares ?? sums);
  });
  return { intercepts, shares: sideBySide(tables, nOutputs) };
}

function sideBySide(tables, nOutputs) {
  const rows = Array.from({ length: nOutputs }, (_, o) =>
    tables.flatMap((table) => {
      const width = table.length / nOutputs;
      return [...table.subarray(o * width, (o + 1) * width)];
    }),
  );
  return Float64Array.from(rows.flat());
}

/**
 * Of each member d score_k / d (its score_j): the mean of secants of 16 steps on the way from the
 * members' intercepts to their scores. These add up exactly.
 */
function meanSlopes(calibrations, shares, found, nOutputs) {
  const nClasses = nOutputs === 1 ? 2 : nOutputs;
  const totals = found.map(() => new Float64Array(nOutputs * nOutputs));
  const between = (one, along) =>
    one.intercepts.map((from, o) => {
      const score = from + along * (one.scores[o] - from);
      return Math.min(Math.max(score, -LARGEST_SCORE), LARGEST_SCORE);
    });
  for (let step = 0; step < STEPS; step++) {
    const told = calibrations.map((one, m) =>
      chanceSecants(
        one,
        between(found[m], step / STEPS),
        between(found[m], (step + 1) / STEPS),
        nOutputs,
      ),
    );
    const ofLogs = Float64Array.from({ length: nClasses }, (_, k) => {
      const mean = (name) => told.reduce((sum, one, m) => sum + shares[m] * one[name][k], 0);
      return secantOfLogs(mean("low"), mean("high"));
    });
    told.forEach(({ slopes }, m) => {
      const log = (k, j) => (shares[m] * slopes[k * nOutputs + j] * ofLogs[k]) / STEPS;
      if (nOutputs === 1) totals[m][0] += log(1, 0) - log(0, 0);
      else
        for (let k = 0; k < nOutputs * nOutputs; k++)
          totals[m][k] += log(Math.floor(k / nOutputs), k % nOutputs);
    });
  }
  return totals;
}

/** Of log max(p, floor), where p goes from `first` to `last`. */
function secantOfLogs(first, last) {
  const [low, high] = [Math.max(first, FLOOR), Math.max(last, FLOOR)];
  if (Math.abs(last - first) > NEAR * high)
    return (Math.log(high) - Math.log(low)) / (last - first);
  return (first + last) / 2 > FLOOR ? 2 / (low + high) : 0;
}

/** Probabilities at two scores, and d p_k / d score_j between them, (classes, outputs). */
function chanceSecants(calibration, first, last, nOutputs) {
  const { low, high, own, areShared } = calibration.secants(first, last);
  const nClasses = own.length;
  const slopes = new Float64Array(nClasses * nOutputs);
  for (let k = 0; k < nClasses; k++) slopes[k * nOutputs + (nOutputs === 1 ? 0 : k)] = own[k];
  if (!areShared) return { low, high, slopes };
  // nothing has a share where all values are 0
  const [sumLow, sumHigh] = [low, high].map((v) => v.reduce((sum, one) => sum + one, 0) || 1);
  const lowShares = low.map((v) => v / sumLow);
  const highShares = high.map((v) => v / sumHigh);
  for (let j = 0; j < nOutputs; j++) {
    let sum = 0;
    for (let k = 0; k < nClasses; k++) sum += slopes[k * nOutputs + j];
    for (let k = 0; k < nClasses; k++) {
      const middle = (lowShares[k] + highShares[k]) / 2;
      slopes[k * nOutputs + j] =
        ((slopes[k * nOutputs + j] - middle * sum) * 2) / (sumLow + sumHigh);
    }
  }
  return { low: lowShares, high: highShares, slopes };
}

/** (high − low) / (last − first), or `slope` where these are too near each other. */
function secant(low, high, first, last, slope) {
  const isFar = Math.abs(last - first) > NEAR * (1 + Math.abs(first));
  return isFar ? (high - low) / (last - first) : slope;
}

// --- forests: forests/rules.py, forests/scores.py ------------------------------------------------

const MOST_LEVELS = 10_000;
const WORD = 32; // categories in a word of a set
const BLOCK = 64; // rows that go down a tree together, which stays in the processor's cache
const GATE_FIELDS = [
  "n_features",
  "pairs",
  "factors",
  "starts",
  "columns",
  "thresholds",
  "children",
  "missing_left",
  "sets",
  "categories",
];

/** Whole numbers of one type from `low` on and below `high`. */
function whole(array, shape, low, high, name, type = "i4") {
  let good = array instanceof Tensor && array.type === type;
  good &&= array.shape.length === shape.length && shape.every((n, k) => n === array.shape[k]);
  good &&= array.data.every((value) => value >= low && value < high);
  require(good, "Forest", `${name} point nowhere`);
  return array.data;
}

function forestGate(part, d) {
  require(part instanceof Part &&
    part.kind === "ForestGate", "Forest", "its gate is of another kind");
  hasFields(part, GATE_FIELDS);
  const name = "ForestGate";
  const gate = part.fields;
  count(gate.n_features, "n_features", d, d);
  const factors = floats(gate.factors, [null, 2], "factors");
  const nPairs = factors.shape[0];
  const pairs = whole(gate.pairs, [nPairs, 2], 0, d, "pairs");
  const isRow = (array) => array instanceof Tensor && array.shape.length === 1;
  require(isRow(gate.columns) && gate.columns.size > 0, name, "it has no nodes");
  const nNodes = gate.columns.size;
  const columns = whole(gate.columns, [nNodes], -1, d + nPairs, "columns");
  // a threshold beyond all numbers parts missing values from others
  let good = isRow(gate.thresholds) && gate.thresholds.isFloat && gate.thresholds.size === nNodes;
  good &&= !gate.thresholds.data.some(Number.isNaN);
  require(good, name, "its thresholds are none");
  const missingLeft = whole(gate.missing_left, [nNodes], 0, 2, "missing_left", "u1");
  require(isRow(gate.starts) && gate.starts.size >= 2, name, "it has no trees");
  const starts = whole(gate.starts, [gate.starts.size], 0, nNodes + 1, "starts");
  good = isAscending(starts, 0, nNodes);
  good &&= starts.every((start, t) => t === 0 || start > starts[t - 1]);
  require(good, name, "its trees are out of order");

  const bits = gate.categories;
  good = bits instanceof Tensor && bits.type === "u4" && bits.shape.length === 2;
  good &&= (bits.shape[0] === 0 || bits.shape[1] >= 1) && bits.shape[1] < 2 ** 20;
  require(good, name, "its sets have no categories");
  const [nSets, nWords] = bits.shape;
  const sets = whole(gate.sets, [nSets ? nNodes : 0], -1, nSets, "sets");
  good = nSets === 0 || sets.every((set, node) => set < 0 || columns[node] >= 0);
  require(good, name, "a leaf has a set");

  const children = whole(gate.children, [nNodes], 0, nNodes, "children");
  const { nLeaves, parents } = forestLinks(columns, children, starts);
  return {
    d,
    nPairs,
    pairs,
    factors,
    starts,
    columns,
    children,
    missingLeft,
    sets,
    nWords,
    nLeaves,
    parents,
    nTrees: starts.length - 1,
    words: Uint32Array.from(bits.data),
    thresholds: gate.thresholds,
  };
}

/** Every node but the roots is the child of one before it in its tree. */
function forestLinks(columns, children, starts) {
  const nNodes = columns.length;
  const parents = new Int32Array(nNodes).fill(-1);
  const levels = new Int32Array(nNodes);
  let nLeaves = 0;
  let good = true;
  let deepest = 0;
  for (let t = 0; t + 1 < starts.length && good; t++) {
    for (let node = starts[t]; node < starts[t + 1] && good; node++) {
      good = (node === starts[t]) === (parents[node] === -1);
      deepest = Math.max(deepest, levels[node]);
      if (columns[node] < 0) {
        require(children[node] === nLeaves++, "ForestGate", "its leaves are out of order");
        continue;
      }
      const first = children[node];
      good &&= first > node && first + 1 < starts[t + 1];
      good &&= parents[first] === -1 && parents[first + 1] === -1;
      if (!good) break;
      parents[first] = parents[first + 1] = node;
      levels[first] = levels[first + 1] = levels[node] + 1;
    }
  }
  require(good, "ForestGate", "its children point nowhere, back or twice");
  require(deepest < MOST_LEVELS, "ForestGate", `it has more than ${MOST_LEVELS} levels`);
  return { nLeaves, parents };
}

function forest(fields, d) {
  const gate = forestGate(fields.gate, d);
  const intercept = floats(fields.intercept, [null], "intercept");
  const nOutputs = intercept.size;
  const values = floats(fields.values, [gate.nLeaves, null], "values");
  const nTold = values.shape[1];
  const isTold = nTold === 1 || nTold === nOutputs;
  require(isTold, "Forest", "its leaves have values of other outputs");
  const outputs = whole(fields.outputs, [gate.nTrees], 0, nOutputs, "outputs");
  const slopes = floats(fields.slopes, [gate.nLeaves, nTold, null], "slopes");
  const nSlopes = slopes.shape[2];
  const slopeColumns = whole(fields.slope_columns, [nSlopes], 0, d, "slope_columns");
  const root = floats(fields.root, [nOutputs, null], "root");
  const fill = floats(fields.fill, [null], "fill");
  const good = [0, d].includes(root.shape[1]) && [0, d].includes(fill.size);
  require(good, "Forest", "its root is of other rows");
  const covers = floats(fields.covers, [gate.nLeaves], "covers");
  require(covers.data.every((one) => one >= 0), "Forest", "its covers are negative");
  const arrays = [values, slopes, root, fill, intercept, gate.thresholds, gate.factors];
  oneType(arrays, "Forest");
  const single = isSingle(gate.thresholds);
  const hasRoot = root.shape[1] > 0;
  const [V, W, R, F, constants] = [values, slopes, root, fill, intercept].map((a) => a.doubles);
  const walk = forestWalk(gate, single);
  const filled = lazily(d);
  const seen = lazily(nSlopes);
  /** What slopes and roots see: a number in place of what is missing. */
  function fillIn(X, at) {
    const row = filled();
    for (let j = 0; j < d; j++) {
      const x = X[at + j];
      row[j] = x === x ? x : F.length ? F[j] : 0;
    }
    const z = seen();
    for (let s = 0; s < nSlopes; s++) z[s] = row[slopeColumns[s]];
    return row;
  }
  /** Scores before the first tree. */
  function begin(X, at, out, to) {
    for (let o = 0; o < nOutputs; o++) out[to + o] = constants[o];
    if (!hasRoot && !nSlopes) return;
    const row = fillIn(X, at);
    if (hasRoot) for (let o = 0; o < nOutputs; o++) out[to + o] += dot(row, 0, R, o * d, d);
  }
  /** Adds what the leaf of a tree says; `seen` is of that row. */
  function add(tree, leaf, out, to) {
    for (let k = 0; k < nTold; k++) {
      const place = leaf * nTold + k;
      const slope = nSlopes ? dot(W, place * nSlopes, seen(), 0, nSlopes) : 0;
      out[to + (nTold === 1 ? outputs[tree] : k)] += V[place] + slope;
    }
  }
  function row(X, at, out, to) {
    begin(X, at, out, to);
    const [A, from] = walk.prepared(X, at);
    for (let t = 0; t < gate.nTrees; t++) add(t, walk.leaf(A, from, t), out, to);
    roundTo(single, out, to, nOutputs);
  }
  const means = lazilyMade(() => nodeMeans(gate, V, nTold, covers.doubles));
  return {
    nFeatures: d,
    nOutputs,
    single,
    takesMissing: true,
    row,
    rows(X, n, out) {
      if (nSlopes || nTold > 1) {
        for (let i = 0; i < n; i++) row(X, i * d, out, i * nOutputs);
        return;
      }
      for (let first = 0; first < n; first += BLOCK) {
        const some = Math.min(BLOCK, n - first);
        for (let i = first; i < first + some; i++) begin(X, i * d, out, i * nOutputs);
        walk.addBlock(X, first, some, V, outputs, out, nOutputs);
      }
      roundTo(single, out, 0, out.length);
    },
    /** What every split on the row's paths has changed. */
    explain(X, at) {
      const width = d + gate.nPairs;
      const parts = new Float64Array(nOutputs * width);
      const intercepts = Float64Array.from(constants);
      const { leafNodes, mean } = means();
      const row = fillIn(X, at);
      if (hasRoot) {
        for (let o = 0; o < nOutputs; o++) {
          for (let j = 0; j < d; j++) parts[o * width + j] = R[o * d + j] * row[j];
        }
      }
      const [A, from] = walk.prepared(X, at);
      const active = [];
      for (let t = 0; t < gate.nTrees; t++) {
        const leaf = walk.leaf(A, from, t);
        active.push(leaf);
        for (let k = 0; k < nTold; k++) {
          const o = nTold === 1 ? outputs[t] : k;
          for (let s = 0; s < nSlopes; s++) {
            parts[o * width + slopeColumns[s]] += W[(leaf * nTold + k) * nSlopes + s] * seen()[s];
          }
          let node = leafNodes[leaf];
          for (let above = gate.parents[node]; above >= 0; above = gate.parents[node]) {
            const change = mean[node * nTold + k] - mean[above * nTold + k];
            parts[o * width + gate.columns[above]] += change;
            node = above;
          }
          intercepts[o] += mean[node * nTold + k];
        }
      }
      const factors = gate.factors.doubles;
      const pairs = Array.from({ length: gate.nPairs }, (_, p) => [
        gate.pairs[2 * p],
        gate.pairs[2 * p + 1],
        factors[2 * p],
        factors[2 * p + 1],
      ]);
      return { intercepts, parts, pairs, component: "leaf", active, gates: active.map(() => 1) };
    },
  };
}

function lazilyMade(make) {
  let held = null;
  return () => (held ??= make());
}

/** The value of a node is the mean of the leaves below it, weighed by their covers. */
function nodeMeans(gate, values, nTold, leafCovers) {
  const nNodes = gate.columns.length;
  const mean = new Float64Array(nNodes * nTold);
  const covers = new Float64Array(nNodes);
  const leafNodes = new Int32Array(gate.nLeaves);
  for (let node = nNodes - 1; node >= 0; node--) {
    const first = gate.children[node];
    if (gate.columns[node] < 0) {
      leafNodes[first] = node;
      covers[node] = leafCovers[first];
      for (let k = 0; k < nTold; k++) mean[node * nTold + k] = values[first * nTold + k];
      continue;
    }
    covers[node] = covers[first] + covers[first + 1];
    const share = covers[node] > 0 ? covers[first] / covers[node] : 0.5;
    for (let k = 0; k < nTold; k++) {
      const [left, right] = [mean[first * nTold + k], mean[(first + 1) * nTold + k]];
      mean[node * nTold + k] = share * left + (1 - share) * right;
    }
  }
  return { leafNodes, mean };
}

/** How rows go down the trees of a gate. */
function forestWalk(gate, single) {
  const { d, nPairs, pairs, starts, columns, children, missingLeft, sets, words, nWords } = gate;
  const width = d + nPairs;
  const factors = gate.factors.doubles;
  const thresholds = gate.thresholds.doubles;
  const hasSets = sets.length > 0;
  const wide = lazily(width);

  /** Each product of a pair column is rounded, then the sum: as everywhere, or rows change sides. */
  function addPairs(X, at, out, to) {
    for (let j = 0; j < d; j++) out[to + j] = X[at + j];
    for (let p = 0; p < nPairs; p++) {
      const a = factors[2 * p] * X[at + pairs[2 * p]];
      const b = factors[2 * p + 1] * X[at + pairs[2 * p + 1]];
      out[to + d + p] = single ? Math.fround(Math.fround(a) + Math.fround(b)) : a + b;
    }
  }

  function goesLeft(node, v) {
    if (hasSets && sets[node] >= 0) {
      if (!(v > -1 && v < WORD * nWords)) return missingLeft[node] === 1;
      const category = Math.trunc(v);
      return ((words[sets[node] * nWords + (category >>> 5)] >>> (category & 31)) & 1) === 1;
    }
    return v === v ? v <= thresholds[node] : missingLeft[node] === 1;
  }

  function leaf(A, at, t) {
    let node = starts[t];
    while (columns[node] >= 0) {
      node = children[node] + (goesLeft(node, A[at + columns[node]]) ? 0 : 1);
    }
    return children[node];
  }

  const blocks = lazily(BLOCK * width);
  return {
    leaf,
    /** A row with its pair columns. */
    prepared(X, at) {
      if (!nPairs) return [X, at];
      addPairs(X, at, wide(), 0);
      return [wide(), 0];
    },
    /** Adds the leaves' numbers of a block of rows, tree by tree. */
    addBlock(X, first, n, values, outputs, out, nOutputs) {
      let A = X;
      let from = first * d;
      if (nPairs) {
        A = blocks();
        from = 0;
        for (let i = 0; i < n; i++) addPairs(X, (first + i) * d, A, i * width);
      }
      let isPlain = !hasSets;
      for (let k = from; k < from + n * width && isPlain; k++) isPlain = A[k] === A[k];
      for (let t = 0; t + 1 < starts.length; t++) {
        let to = first * nOutputs + outputs[t];
        for (let i = 0, at = from; i < n; i++, at += width, to += nOutputs) {
          if (!isPlain) {
            out[to] += values[leaf(A, at, t)];
            continue;
          }
          let node = starts[t];
          for (let c = columns[node]; c >= 0; c = columns[node]) {
            node = children[node] + (A[at + c] <= thresholds[node] ? 0 : 1);
          }
          out[to] += values[children[node]];
        }
      }
    },
  };
}

// === What scores mean: outcome.py, outcome_rules.py ==============================================
//
// A calibration has `chances(scores, at, out, to)`, which writes the probabilities of a row's
// classes, and `secants` for averages that are taken apart.

const classesOf = (nOutputs) => (nOutputs === 1 ? 2 : nOutputs);

/** Two classes: the rest is the first one's. Several: shares of the sum, equal if that is 0. */
function shareOut(out, to, nOutputs) {
  if (nOutputs === 1) {
    out[to + 1] = out[to];
    out[to] = 1 - out[to];
    return;
  }
  let sum = 0;
  for (let k = 0; k < nOutputs; k++) sum += out[to + k];
  for (let k = 0; k < nOutputs; k++) out[to + k] = sum === 0 ? 1 / nOutputs : out[to + k] / sum;
}

/** Every output has a value at(score, o) of its own; `slope` is that of one at a score. */
function calibrationOfEach(nOutputs, at, slope) {
  return {
    chances(scores, from, out, to) {
      for (let o = 0; o < nOutputs; o++) out[to + o] = at(scores[from + o], o);
      shareOut(out, to, nOutputs);
    },
    /** Two classes have 1 − v and v, which are probabilities; several have shares. */
    secants(first, last) {
      const [low, high] = [first, last].map((scores) => scores.map(at));
      const own = first.map((score, o) => {
        const flat = slope(score, (low[o] + high[o]) / 2, o);
        return secant(low[o], high[o], score, last[o], flat);
      });
      if (nOutputs > 1) return { low, high, own, areShared: true };
      const both = (v) => Float64Array.of(1 - v[0], v[0]);
      return { low: both(low), high: both(high), own: [-own[0], own[0]], areShared: false };
    },
  };
}

/** exp(factor · score) of each class, divided by their sum. */
function softmaxCalibration(factors, nOutputs) {
  const nClasses = factors.length;
  const of = (k) => (nOutputs === 1 ? 0 : k);
  return {
    chances(scores, at, out, to) {
      for (let k = 0; k < nClasses; k++) out[to + k] = factors[k] * scores[at + of(k)];
      softmax(out, to, nClasses);
    },
    secants(first, last) {
      const logs = [first, last].map((scores) => factors.map((one, k) => one * scores[of(k)]));
      const top = Math.max(...logs[0], ...logs[1]);
      const [low, high] = logs.map((one) => one.map((log) => Math.exp(log - top)));
      const own = factors.map(
        (one, k) => one * secant(low[k], high[k], logs[0][k], logs[1][k], (low[k] + high[k]) / 2),
      );
      return { low, high, own, areShared: true };
    },
  };
}

const calibrations = {
  LogLoss: (fields, nOutputs) => ({
    ...softmaxCalibration(nOutputs === 1 ? [0, 1] : new Array(nOutputs).fill(1), nOutputs),
    followsScores: true,
  }),

  Shares: (fields, nOutputs) => {
    const chances = (scores, at, out, to) => {
      if (nOutputs === 1) {
        const score = scores[at];
        out[to] = (1 - score) / 2;
        out[to + 1] = (1 + score) / 2;
      } else for (let k = 0; k < nOutputs; k++) out[to + k] = scores[at + k];
    };
    return {
      chances,
      followsScores: true,
      secants(first, last) {
        const [low, high] = [first, last].map((scores) => {
          const out = new Float64Array(classesOf(nOutputs));
          chances(scores, 0, out, 0);
          return out;
        });
        const own = nOutputs === 1 ? [-0.5, 0.5] : new Array(nOutputs).fill(1);
        return { low, high, own, areShared: false };
      },
    };
  },

  Sigmoids(fields, nOutputs) {
    const slopes = floats(fields.slopes, [nOutputs], "slopes").doubles;
    const offsets = floats(fields.offsets, [nOutputs], "offsets").doubles;
    const at = (score, o) => 1 / (1 + Math.exp(slopes[o] * score + offsets[o]));
    return calibrationOfEach(nOutputs, at, (score, middle, o) => {
      return -slopes[o] * middle * (1 - middle);
    });
  },

  Temperature(fields, nOutputs) {
    const [factor] = floats(fields.factor, [1], "factor").doubles;
    require(factor > 0 && factor <= 1e6, "Temperature", "its factor is out of bounds");
    const factors = nOutputs === 1 ? [-factor, factor] : new Array(nOutputs).fill(factor);
    return softmaxCalibration(factors, nOutputs);
  },

  Tables(fields, nOutputs) {
    for (const tables of [fields.scores, fields.probabilities]) {
      require(tables instanceof Tuple && tables.items.length === nOutputs, "Tables", "some miss");
    }
    const tables = fields.scores.items.map((given, o) => {
      const scores = floats(given, [null], "scores").doubles;
      const told = floats(fields.probabilities.items[o], [scores.length], "probabilities").doubles;
      require(scores.length >= 1, "Tables", "there are no points");
      const ascend = scores.every((score, k) => k === 0 || score > scores[k - 1]);
      require(ascend, "Tables", "its scores are not ascending");
      const small = scores.every((score) => Math.abs(score) <= 1e300);
      require(small, "Tables", "its scores are too large");
      require(told.every((p) => p >= 0 && p <= 1), "Tables", "its probabilities are none");
      return { scores, told, n: scores.length };
    });
    const at = (score, o) => onLine(score, tables[o].scores, 0, tables[o].n, tables[o].told, 1, 0);
    return calibrationOfEach(nOutputs, at, (score, middle, o) => {
      const { scores, told, n } = tables[o];
      const k = lowerBound(scores, 0, n, score);
      return k > 0 && k < n ? (told[k] - told[k - 1]) / (scores[k] - scores[k - 1]) : 0;
    });
  },
};

function threshold(fields) {
  const isKnown = fields.of === "score" || fields.of === "probability";
  require(isKnown, "Threshold", "it is of something unknown");
  const at = number(fields.at, "threshold");
  return { of: fields.of, at, positive: count(fields.positive, "positive class", 0, 1) };
}

/** Probabilities and labels of the scores of one model, or of several that are averaged. */
function outcome(fields, nOutputs, nModels) {
  const good = fields.calibration instanceof Tuple;
  require(good, "Outcome", "its calibration is no tuple");
  const { items } = fields.calibration;
  const parts = items.map((one) => checked(one, "calibration", [nOutputs]));
  require([0, nModels].includes(parts.length), "Outcome", "not all models are calibrated");
  const alike = new Set(items.map((one) => one.kind)).size <= 1;
  require(alike, "Outcome", "its calibrations are of several kinds");
  let limit = null;
  if (fields.threshold !== null) {
    limit = checked(fields.threshold, "threshold", []);
    require(nOutputs === 1, "Threshold", "it stands before several classes");
    const some = limit.of === "score" || parts.length > 0;
    require(some, "Threshold", "there are no probabilities");
  }
  const isCalibrated = parts.some((one) => !one.followsScores);
  const common = nModels === 1 || (isCalibrated && !(limit && limit.of === "score"));
  require(common, "Outcome", "several models have no common scores");
  return plainOutcome(parts, limit, nOutputs);
}

function plainOutcome(parts, limit, nOutputs) {
  const nClasses = classesOf(nOutputs);
  const isCalibrated = parts.some((one) => !one.followsScores);
  const own = new Float64Array(nClasses);
  function chances(scores, single, row) {
    const mean = new Float64Array(nClasses);
    parts.forEach((one, m) => {
      one.chances(scores[m], row * nOutputs, own, 0);
      for (let k = 0; k < nClasses; k++) mean[k] += own[k] / parts.length;
    });
    roundTo(single && !isCalibrated, mean, 0, nClasses);
    return mean;
  }
  return {
    givesProbabilities: parts.length > 0,
    chances,
    /** The number of the class of a row. */
    place(scores, single, row) {
      if (limit !== null) {
        const ofScore = limit.of === "score";
        const [score] = scores[0].subarray(row * nOutputs);
        const value = ofScore
          ? limit.positive
            ? score
            : -score
          : chances(scores, single, row)[limit.positive];
        const at = single && (ofScore || !isCalibrated) ? Math.fround(limit.at) : limit.at;
        return value >= at ? limit.positive : 1 - limit.positive;
      }
      if (isCalibrated) return largest(chances(scores, single, row), 0, nClasses);
      if (nOutputs === 1) return scores[0][row] > 0 ? 1 : 0;
      return largest(scores[0], row * nOutputs, nOutputs);
    },
  };
}

/** A row may have several labels: each is there where its score is positive. */
function eachLabel(fields, nOutputs, nModels) {
  const ofLogLoss = boolean(fields.of_log_loss, "EachLabel", "of_log_loss");
  const good = nModels === 1 && nOutputs > 1;
  require(good, "EachLabel", "it is of one model and several labels");
  return {
    isOfEachLabel: true,
    givesProbabilities: ofLogLoss,
    chances: ([scores], single, row) =>
      scores.slice(row * nOutputs, (row + 1) * nOutputs).map((score) => {
        const rare = Math.exp(-Math.abs(score)); // this form never overflows
        return score > 0 ? 1 - rare / (1 + rare) : rare / (1 + rare);
      }),
  };
}

function largest(values, at, n) {
  let best = 0;
  for (let k = 1; k < n; k++) if (values[at + k] > values[at + best]) best = k;
  return best;
}

// === Every kind, once: its family, its fields, and what makes it =================================

const kind = (family, fields, make) => ({ family, fields: fields ? fields.split(" ") : [], make });
const RULES = {
  LocallyLinear: kind("predictor", "gate weights biases intercept", locallyLinear),
  TreePath: kind("predictor", "splits slopes weights intercept node_gate", treePath),
  TreeLeaves: kind("predictor", "splits weights intercept", treeLeaves),
  LinkedTree: kind("predictor", "children splits slopes weights intercept node_gate", linkedTree),
  Forest: kind(
    "predictor",
    "gate values outputs slopes slope_columns root fill intercept covers",
    forest,
  ),
  ConformalLinear: kind(
    "predictor",
    "anchors gammas weights kernels outputs biases profile per_feature",
    conformalLinear,
  ),
  GaussianCells: kind(
    "predictor",
    "cells gamma landmarks starts slopes offsets biases",
    gaussianCells,
  ),
  KernelExpansion: kind(
    "predictor",
    "kernels support coefficients biases n_features owners",
    kernelExpansion,
  ),
  GatedExpansion: kind("predictor", "gate components bias activation", gatedExpansion),
  Mapped: kind("predictor", "map predictor", mapped),
  Additive: kind("predictor", "weights intercept firsts knots values", additive),
  Hinges: kind("predictor", "weights biases", hinges),
  Averaged: kind("predictor", "members weights calibrations", averaged),
  Exponential: kind("predictor", "predictor", exponential),
  Stacked: kind("predictor", "outputs", stacked),
  Affine: kind("map", "matrix", maps.Affine),
  WithGates: kind("map", "gate n_features", maps.WithGates),
  Quadratic: kind("map", "center scale", maps.Quadratic),
  SoftAssignment: kind("sparse gate", "anchors n_neighbors sharpness metric", softAssignment),
  InverseDistance: kind("sparse gate", "anchors n_neighbors", inverseDistance),
  ReconstructionCodes: kind("sparse gate", "anchors n_neighbors ridge", reconstructionCodes),
  Softmax: kind(
    "gate",
    "directions offsets",
    linearGate((values, n) => softmax(values, 0, n)),
  ),
  Sigmoid: kind("gate", "directions offsets", linearGate(sigmoids)),
  GaussianGate: kind("gate", "centers log_widths scale", gaussianGate),
  Viewing: kind("gate", "gate view", viewing),
  Rounded: kind("gate", "gate margin", rounded),
  SoftmaxOf: kind("gate", "scores sharpness", gateOfScores("sharpness", sharpened)),
  Clipped: kind("gate", "scores floor", gateOfScores("floor", clipped)),
  UnitLength: kind("gate", "gate", unitLength),
  Repeated: kind("gate", "gate count", repeated),
  TopAndBottom: kind("score gate", "count", topAndBottom),
  Linear: kind("kernel", "", kernels.Linear),
  Polynomial: kind("kernel", "degree gamma coef0", kernels.Polynomial),
  Gaussian: kind("kernel", "gamma width", kernels.Gaussian),
  OnColumns: kind("kernel", "kernel columns", kernels.OnColumns),
  Scaled: kind("kernel", "kernel factor", kernels.Scaled),
  UnitDiagonal: kind("kernel", "kernel", kernels.UnitDiagonal),
  WeightedSum: kind("kernel", "kernels weights", kernels.WeightedSum),
  Product: kind("kernel", "kernels", kernels.Product),
  LDKLKernel: kind("kernel", "tree", kernels.LDKLKernel),
  PairwiseNormalizedSum: kind("kernel", "kernels n_features", kernels.PairwiseNormalizedSum),
  LogLoss: kind("calibration", "", calibrations.LogLoss),
  Shares: kind("calibration", "", calibrations.Shares),
  Sigmoids: kind("calibration", "slopes offsets", calibrations.Sigmoids),
  Temperature: kind("calibration", "factor", calibrations.Temperature),
  Tables: kind("calibration", "scores probabilities", calibrations.Tables),
  Threshold: kind("threshold", "of at positive", threshold),
  Outcome: kind("outcome", "calibration threshold", outcome),
  EachLabel: kind("outcome", "of_log_loss", eachLabel),
};

// === Cells that are no numbers by themselves: columns/readings.py ================================

const NOT_KNOWN = -1; // the place of a category that the fit has not seen
const UNITS = ["days", "year", "month", "day", "weekday", "hour"];
const LOOSE = "number"; // what cells spell; those that spell none are missing
const PLAIN = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const DAY = 86_400_000_000; // microseconds

const isMissing = (cell) => cell === null || cell === undefined || cell === "" || cell !== cell;

/** Number() takes " " for 0 and 0x10 for 16, and does not know inf. */
const SPELLED =
  /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/i;
const ENDLESS = /^([+-]?)inf(?:inity)?$/i;

/** The number that a cell spells, or NaN. */
function numberIn(cell) {
  if (typeof cell === "number") return cell;
  if (typeof cell === "boolean" || typeof cell === "bigint") return Number(cell);
  if (typeof cell !== "string") return NaN;
  if (cell === "True" || cell === "False") return cell === "True" ? 1 : 0;
  const text = cell.trim();
  if (SPELLED.test(text)) return Number(text.replaceAll("_", ""));
  const endless = ENDLESS.exec(text);
  return endless === null ? NaN : endless[1] === "-" ? -Infinity : Infinity;
}

/** The number that a cell is or spells; NaN where it is missing, or a text that spells none. */
function spelledNumber(cell) {
  if (isMissing(cell) || (typeof cell === "string" && !PLAIN.test(cell))) return NaN;
  return numberIn(cell);
}

/** How the cells of a raw column are read: as places of categories, parts of dates, or numbers. */
function reading(column, of, unknown, nFeatures) {
  const wrong = () => refuse("The model file's categories are described wrongly.");
  let good = typeof column === "number" && column >= 0 && column < nFeatures;
  good &&= ["other", "refused", "missing"].includes(unknown);
  if (!good || (typeof of === "string" && ![...UNITS, LOOSE].includes(of))) wrong();
  const unknownPlace = unknown === "missing" ? NaN : NOT_KNOWN;
  const found = { column, unknown };
  if (of === LOOSE) return { ...found, isOfNumbers: true, place: spelledNumber };
  if (typeof of === "string") {
    return { ...found, isOfDates: true, place: (cell) => partOfDate(cell, of) };
  }
  const given = listOf(of);
  const areTexts = given.every((one) => typeof one === "string");
  const areNumbers = given.every(
    (one) => isWhole(one) || one instanceof Real || typeof one === "boolean",
  );
  if (!areTexts && !areNumbers) wrong();
  const categories = given.map((one) =>
    one instanceof Real ? one.value : areTexts ? one : Number(one),
  );
  const areSmall = areTexts || categories.every((one) => Math.abs(one) <= 1e300);
  if (!areSmall || new Set(categories).size !== categories.length) wrong();
  const places = new Map(categories.map((category, place) => [category, place]));
  // the same for rows in single precision; the first of equal ones counts
  const single = new Map(
    categories.map((one, place) => [areTexts ? one : Math.fround(one), place]).reverse(),
  );
  return {
    ...found,
    isOfText: areTexts,
    categories,
    place(cell, isSingleRow) {
      if (areTexts && typeof cell === "boolean") cell = cell ? "True" : "False";
      if (!areTexts && !isMissing(cell)) cell = numberIn(cell);
      const place = (isSingleRow ? single : places).get(cell);
      if (place !== undefined) return place;
      return isMissing(cell) ? NaN : unknownPlace;
    },
  };
}

const ISO_DATE = /^(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d)|-?W(\d\d)(?:-?(\d))?)(?:[^](.+))?$/;
const ISO_TIME =
  /^(\d\d)(?:(:?)(\d\d)(?:\2(\d\d)(?:[.,](\d+))?)?)?(?:(Z)|([+-])(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?)?$/;

/** Days since 1970 of a day of the Gregorian calendar. */
function daysOf(year, month, day) {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const ofEra = y - era * 400;
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return (
    era * 146097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719468
  );
}

function calendar(days) {
  const z = days + 719468;
  const era = Math.floor(z / 146097);
  const ofEra = z - era * 146097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36524) - Math.floor(ofEra / 146096)) /
      365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const shifted = Math.floor((5 * ofYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const day = ofYear - Math.floor((153 * shifted + 2) / 5) + 1;
  return { year: year + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

const FIRST_DAY = daysOf(1, 1, 1);
const LAST_DAY = daysOf(9999, 12, 31);

/** Days since 1970 and microseconds of the day, in UTC where there is a time zone; or null. */
function momentOf(cell) {
  if (cell instanceof Date) {
    const microseconds = cell.getTime() * 1000;
    const days = Math.floor(microseconds / DAY);
    return Number.isFinite(days) ? { days, rest: microseconds - days * DAY } : null;
  }
  const found = typeof cell === "string" ? ISO_DATE.exec(cell.trim()) : null;
  if (found === null) return null;
  const [, y, m1, d1, m2, d2, week, weekday, time] = found;
  const year = Number(y);
  if (year < 1) return null;
  let days = 0;
  if (week !== undefined) {
    const first = daysOf(year, 1, 4); // which lies in the first week
    const nth = Number(week) - 1;
    const ofWeek = weekday === undefined ? 1 : Number(weekday);
    const start = first - ((((first + 3) % 7) + 7) % 7);
    const nextFirst = daysOf(year + 1, 1, 4);
    const nextStart = nextFirst - ((((nextFirst + 3) % 7) + 7) % 7);
    days = start + 7 * nth + ofWeek - 1;
    if (nth < 0 || ofWeek < 1 || ofWeek > 7 || start + 7 * nth >= nextStart) return null;
  } else {
    const [month, day] = [Number(m1 ?? m2), Number(d1 ?? d2)];
    days = daysOf(year, month, day);
    const back = calendar(days);
    if (month < 1 || month > 12 || back.month !== month || back.day !== day) return null;
  }
  let rest = 0;
  if (time !== undefined) {
    const parts = ISO_TIME.exec(time);
    if (parts === null) return null;
    const [, h, , min, s, fraction, , sign, zh, zm, zs, zf] = parts;
    if (Number(h) > 23 || Number(min ?? 0) > 59 || Number(s ?? 0) > 59) return null;
    rest = microsecondsOf(h, min, s, fraction);
    if (sign !== undefined) {
      const zone = microsecondsOf(zh, zm, zs, zf);
      if (zone >= DAY || Number(zm ?? 0) > 59 || Number(zs ?? 0) > 59) return null;
      rest -= sign === "-" ? -zone : zone;
    }
    const shift = Math.floor(rest / DAY);
    days += shift;
    rest -= shift * DAY;
  }
  return days >= FIRST_DAY && days <= LAST_DAY ? { days, rest } : null;
}

function microsecondsOf(hours, minutes, seconds, fraction = "") {
  const whole = Number(hours) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
  return whole * 1e6 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}

/** A part of a date; NaN where it is missing, undefined where the cell is none. */
function partOfDate(cell, unit) {
  if (isMissing(cell)) return NaN;
  const moment = momentOf(cell);
  if (moment === null) return undefined;
  const { days, rest } = moment;
  if (unit === "days") return (days * DAY + rest) / DAY;
  if (unit === "weekday") return (((days + 3) % 7) + 7) % 7; // 1970 began on a Thursday
  if (unit === "hour") return Math.floor(rest / 3.6e9);
  return calendar(days)[unit];
}

// === Curves of one number: columns/curves.py =====================================================

const LEAST_TAIL = 1e-7 - 2 ** -52;
const MIDDLE = 0.425;
// Ratios of polynomials, highest power last: Wichura, Algorithm AS 241, Applied Statistics 37.
const NEAR_RATIO = [
  [
    3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
    45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727,
  ],
  [
    1, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867,
    39307.89580009271061, 28729.085735721942674, 5226.495278852854561,
  ],
];
const FAR_RATIO = [
  [
    1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
    1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833,
    0.0007745450142783414076,
  ],
  [
    1, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455,
    0.14810397642748007459, 0.0151986665636164571966, 0.0005475938084995344946,
    1.05075007164441684324e-9,
  ],
];

const polynomial = (numbers, x) => numbers.reduceRight((sum, one) => sum * x + one, 0);
const ratio = ([above, below], x) => polynomial(above, x) / polynomial(below, x);

/** The score of the normal law that has this tail; of the upper tail where it is negative. */
function normalScore(tail) {
  const size = Math.min(Math.max(Math.abs(tail), LEAST_TAIL), 0.5);
  const away = 0.5 - size;
  const score =
    away <= MIDDLE
      ? away * ratio(NEAR_RATIO, MIDDLE ** 2 - away ** 2)
      : ratio(FAR_RATIO, Math.sqrt(-Math.log(size)) - 1.6);
  return tail < 0 ? score : -score;
}

/** What a curve makes of a number; where a knot stands several times, the middle value counts. */
function onCurve(curve, x) {
  if (x !== x) return x;
  if (curve === "normal") return normalScore(x);
  const { knots, values } = curve;
  if (knots === null) return values[Math.trunc(x) + 1];
  const n = knots.length;
  const first = lowerBound(knots, 0, n, x);
  let last = first;
  while (last < n && knots[last] === x) last++;
  if (last > first) return values[Math.min(Math.floor((first + last - 1) / 2), n - 1)];
  return onLine(x, knots, 0, n, values, 1, 0);
}

// === From raw columns to a model's: preparation.py, preparation_rules.py =========================

const TABLES = ["source", "missing", "shift", "scale", "low", "high", "equals"];
const FIELDS = [...TABLES, "readings", "curves", "fold", "matrix", "offset"];
const LONGEST_CHAIN = 16;
const PREPARED_WRONGLY = "The model file's preparation is not one of its features.";

function preparationOf(header, arrays, nFeatures) {
  const found = header.preparation;
  return found === null ? null : tableChain(found, arrays, nFeatures, 0);
}

/** Tables that follow each other. */
function tableChain(found, arrays, nFeatures, depth) {
  if (depth > LONGEST_CHAIN) {
    refuse(`The model file's preparation has more than ${LONGEST_CHAIN} tables.`);
  }
  if (!isObject(found) || !("before" in found)) {
    return checkedTable(tableOf(found, arrays), nFeatures);
  }
  const before = tableChain(found.before, arrays, nFeatures, depth + 1);
  const after = checkedTable(tableOf(found.after, arrays), before.width);
  if (after.readings !== null) {
    refuse("The model file reads categories of columns that are numbers.");
  }
  return Object.assign(after, { before, nFeatures });
}

function tableOf(found, arrays) {
  if (!isObject(found) || !FIELDS.every((name) => name in found)) {
    refuse("The model file's preparation is described wrongly.");
  }
  return Object.fromEntries(FIELDS.map((name) => [name, parse(found[name], arrays)]));
}

function listOf(value, length = null) {
  const list = value instanceof Tuple ? value.items : value;
  const good = Array.isArray(list) && (length === null || list.length === length);
  return good ? list : refuse("The model file's categories are described wrongly.");
}

function checkedTable(found, nFeatures) {
  const wrong = () => refuse(PREPARED_WRONGLY);
  const readings =
    found.readings === null
      ? null
      : listOf(found.readings).map((one) => reading(...listOf(one, 3), nFeatures));
  const nInputs = nFeatures + (readings?.length ?? 0);
  const nColumns = found.source === null ? nInputs : (found.source.size ?? 1);
  if (!(nColumns >= 1) || (found.low === null) !== (found.high === null)) wrong();
  const table = { nFeatures, nInputs, nColumns, readings, before: null };
  for (const name of TABLES) {
    const array = found[name];
    const types = name === "source" ? ["i1", "i2", "i4", "i8"] : ["f2", "f4", "f8"];
    let good = array === null || (array instanceof Tensor && types.includes(array.type));
    good &&= array === null || (array.shape.length === 1 && array.size === nColumns);
    if (!good) wrong();
    table[name] = array && array.doubles;
  }
  const every = (numbers, test) => numbers === null || numbers.every(test);
  let good = every(table.source, (place) => place >= 0 && place < nInputs);
  good &&= every(table.shift, Number.isFinite) && every(table.scale, Number.isFinite);
  // a piece may fall
  good &&= every(table.scale, (one) => (found.fold === null ? one > 0 : one !== 0));
  const isBounded = (one) => Math.abs(one) !== Infinity;
  good &&= every(table.missing, isBounded) && every(table.equals, isBounded);
  good &&= every(table.low, (low, j) => low <= table.high[j]);
  if (!good) wrong();
  Object.assign(table, mixing(found, nColumns), { fold: folds(found.fold, nColumns) });
  table.curves = found.curves === null ? null : curvesOf(found.curves, table);
  table.width = table.matrix === null ? nColumns : table.offset.length;
  return table;
}

function mixing({ matrix, offset }, nColumns) {
  if (matrix === null && offset === null) return { matrix, offset };
  const isTable = (array, axes) =>
    array instanceof Tensor &&
    ["f2", "f4", "f8"].includes(array.type) &&
    array.shape.length === axes;
  let good = isTable(matrix, 2) && isTable(offset, 1) && matrix.shape[1] === nColumns;
  good &&= matrix.shape[0] > 0 && offset.size === matrix.shape[0];
  good &&= areFinite(matrix.data) && areFinite(offset.data);
  if (!good) refuse(PREPARED_WRONGLY);
  return { matrix: matrix.doubles, offset: offset.doubles };
}

/** Shift, scale, lift and floor of second lines. */
function folds(fold, nColumns) {
  if (fold === null) return null;
  let good = fold instanceof Tensor && ["f2", "f4", "f8"].includes(fold.type);
  good &&= fold.shape.length === 2 && fold.shape[0] === nColumns && fold.shape[1] === 4;
  good &&= fold.data.every((one, k) => (k % 4 === 3 ? one === one : Number.isFinite(one)));
  good &&= fold.data.every((one, k) => k % 4 !== 1 || one !== 0);
  return good ? fold.doubles : refuse(PREPARED_WRONGLY);
}

function curvesOf(found, table) {
  const wrong = () => refuse("The model file's curves are described wrongly.");
  const isRow = (array) =>
    array instanceof Tensor &&
    array.type === "f8" &&
    array.shape.length === 1 &&
    areFinite(array.data);
  return listOf(found, table.nColumns).map((curve, j) => {
    if (curve === null) return null;
    if (table.equals !== null && table.equals[j] === table.equals[j]) refuse(PREPARED_WRONGLY);
    if (curve === "normal") return curve;
    const [knots, values] = listOf(curve, 2);
    if (!isRow(values) || values.size === 0) wrong();
    if (knots === null) {
      const place = table.source === null ? j : table.source[j];
      const read = table.readings?.[place - table.nFeatures];
      if (!read?.categories || values.size !== read.categories.length + 1) wrong();
      return { knots, values: values.data };
    }
    let good = isRow(knots) && knots.size === values.size;
    good &&= knots.data.every((knot, k) => k === 0 || knot >= knots.data[k - 1]);
    return good ? { knots: knots.data, values: values.data } : wrong();
  });
}

/** Whether rows are shifted, scaled and mixed, and nothing else. */
function isAffine(table) {
  const others = [
    "source",
    "missing",
    "low",
    "high",
    "readings",
    "equals",
    "curves",
    "fold",
    "before",
  ];
  return others.every((name) => table[name] === null);
}

const firstTable = (table) => (table.before === null ? table : firstTable(table.before));

/** The raw column that a prepared one comes from; null where columns are mixed. */
function rawColumn(table, j) {
  const place = table.source === null ? j : table.source[j];
  if (table.before !== null) return table.before.matrix ? null : rawColumn(table.before, place);
  return place < table.nFeatures ? place : table.readings[place - table.nFeatures].column;
}

/** Raw columns that a preparation looks at. */
function usedColumns(table) {
  const first = firstTable(table);
  const used = new Set((first.readings ?? []).map((one) => one.column));
  for (let j = 0; j < first.nColumns; j++) {
    const place = first.source === null ? j : first.source[j];
    if (place < first.nFeatures) used.add(place);
  }
  return used;
}

/** Prepared rows of a table, in the precision of the rows that are given. */
function prepare(table, rows, keepsMissing) {
  const { n, isSingle: single } = rows;
  const round = single ? Math.fround : (value) => value;
  const inputs = table.before === null ? rawInputs(table, rows) : laterInputs(table, rows);
  const plan = (table.plan ??= planOf(table));
  const shift = single ? plan.shift.map(round) : plan.shift;
  const scale = single ? plan.scale.map(round) : plan.scale;
  const { nColumns, curves, equals, fold, low, high, missing, matrix } = table;
  const out = new Float64Array(n * nColumns);
  for (let i = 0; i < n; i++) {
    const seen = inputs(i);
    for (let j = 0; j < nColumns; j++) {
      let v = seen[plan.source[j]];
      if (equals !== null && equals[j] === equals[j] && v === v) v = v === round(equals[j]) ? 1 : 0;
      if (curves !== null && curves[j] !== null) v = round(onCurve(curves[j], v));
      if (v === v) {
        const raw = v;
        v = round(round(v - shift[j]) / scale[j]);
        if (fold === null && !Number.isFinite(v)) tooLarge("scaled");
        if (low !== null) v = Math.min(Math.max(v, round(low[j])), round(high[j]));
        if (fold !== null) {
          const [s, f, lift, floor] = [0, 1, 2, 3].map((k) => round(fold[4 * j + k]));
          const second = round(round(round(raw - s) / f) + lift);
          v = Math.min(v, Math.max(second, floor));
          if (!Number.isFinite(v)) tooLarge("scaled");
        }
      } else if (missing !== null) v = round(missing[j]);
      if (v !== v && (!keepsMissing || matrix !== null)) refuseMissing(table, rows, i, j);
      out[i * nColumns + j] = v;
    }
  }
  return matrix === null ? out : mixed(table, out, n, round);
}

function tooLarge(how) {
  throw new Error(`The rows hold numbers that are too large when they are ${how}.`);
}

function refuseMissing(table, rows, i, j) {
  const column = rawColumn(table, j);
  const where = column === null ? "some column" : `column ${rows.shown(column)}`;
  throw new Error(
    `Row ${i} has no value in ${where}, where the model takes none that are missing.`,
  );
}

function planOf({ source, shift, scale, nColumns }) {
  return {
    source: source ?? Float64Array.from({ length: nColumns }, (_, j) => j),
    shift: shift ?? new Float64Array(nColumns),
    scale: scale ?? new Float64Array(nColumns).fill(1),
  };
}

function mixed({ matrix, offset, nColumns, width }, rows, n, round) {
  const out = new Float64Array(n * width);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < width; k++) {
      const sum = dot(rows, i * nColumns, matrix, k * nColumns, nColumns);
      out[i * width + k] = round(sum + offset[k]);
      if (!Number.isFinite(out[i * width + k])) tooLarge("mixed");
    }
  }
  return out;
}

function laterInputs(table, rows) {
  const { width } = table.before;
  const before = prepare(table.before, rows, true);
  return (i) => before.subarray(i * width, (i + 1) * width);
}

/** Of a row: its raw columns as numbers, and after them what is read; NaN where missing. */
function rawInputs(table, rows) {
  const { nFeatures, nInputs, nColumns, source } = table;
  const seen = new Float64Array(nInputs);
  const places = new Set(source ?? Array.from({ length: nColumns }, (_, j) => j));
  const numbers = [...places].filter((place) => place < nFeatures);
  const readings = (table.readings ?? [])
    .map((one, r) => ({ ...one, to: nFeatures + r }))
    .filter((one) => one.unknown === "refused" || places.has(one.to));
  return (i) => {
    for (const column of numbers) seen[column] = rows.number(i, column);
    for (const one of readings) {
      const cell = rows.cell(i, one.column);
      const place = one.place(cell, rows.isSingle);
      if (place === undefined) {
        rows.unreadable(i, one.column, "a date, such as 2024-05-31 or 2024-05-31T16:00,");
      }
      if (one.unknown === "refused" && place === NOT_KNOWN) {
        throw new Error(
          `Row ${i} has ${JSON.stringify(cell)} in column ${rows.shown(one.column)}, which is ` +
            "none of the categories of the fit.",
        );
      }
      seen[one.to] = rows.isSingle ? Math.fround(place) : place;
      rows.requireFinite(seen[one.to], i, one.column);
    }
    return seen;
  };
}

// === Rows as people have them ====================================================================

/** Arrays of arrays, arrays of objects by name, or one typed array of all numbers. */
class Rows {
  constructor(given, names, used) {
    this.names = names;
    this.width = names.length;
    this.isSingle = given instanceof Float32Array;
    if (ArrayBuffer.isView(given) && given.length !== undefined) this.#setFlat(given);
    else if (Array.isArray(given)) this.#setList(given, used);
    else throw new TypeError("Rows are an array of arrays or of objects, or one typed array.");
  }

  #setFlat(given) {
    this.flat = given;
    this.n = given.length / this.width;
    if (!Number.isInteger(this.n)) {
      throw new Error(
        `The model takes rows of ${this.width} numbers; ${given.length} are no such.`,
      );
    }
  }

  #setList(given, used) {
    this.flat = null;
    this.n = given.length;
    this.list = given.map((row, i) => {
      if (Array.isArray(row) || ArrayBuffer.isView(row)) {
        if (row.length === this.width) return row;
        throw new Error(`The model takes rows of ${this.width} cells, row ${i} has ${row.length}.`);
      }
      if (typeof row !== "object" || row === null) {
        throw new TypeError(`Row ${i} is no array and no object: give a list of rows.`);
      }
      return this.names.map((name, column) => {
        if (name in row || !used(column)) return row[name];
        throw new Error(
          `Row ${i} has no ${JSON.stringify(name)}: give null where a value is missing.`,
        );
      });
    });
  }

  cell(i, column) {
    return this.flat === null ? this.list[i][column] : this.flat[i * this.width + column];
  }

  /** A cell as a number, NaN where it is missing. */
  number(i, column) {
    const cell = this.cell(i, column);
    const value = typeof cell === "number" ? cell : isMissing(cell) ? NaN : numberIn(cell);
    if (value !== value && !isMissing(cell) && String(cell).trim().toLowerCase() !== "nan") {
      this.unreadable(i, column, "a number");
    }
    this.requireFinite(value, i, column);
    return value;
  }

  requireFinite(value, i, column) {
    if (value === Infinity || value === -Infinity) {
      throw new Error(
        `Row ${i} holds infinity in column ${this.shown(column)}; numbers are finite.`,
      );
    }
  }

  unreadable(i, column, wanted) {
    const cell = String(this.cell(i, column)).slice(0, 40);
    throw new Error(
      `Row ${i} has ${JSON.stringify(cell)} in column ${this.shown(column)}, where ${wanted} belongs.`,
    );
  }

  shown(column) {
    return JSON.stringify(this.names[column]);
  }
}

// === What contributions are of: preparation/origins.py, explain/record.py ========================

/** The raw column of each prepared column; null if a column depends on several or on none. */
function origins(table) {
  const sources = rawColumns(table);
  return sources.every((one) => one.size === 1) ? sources.map((one) => [...one][0]) : null;
}

/** The set of raw columns that each prepared column depends on. */
function rawColumns(table) {
  const inputs =
    table.before !== null
      ? rawColumns(table.before)
      : [
          ...Array.from({ length: table.nFeatures }, (_, k) => new Set([k])),
          ...(table.readings ?? []).map((one) => new Set([one.column])),
        ];
  const { nColumns, source, matrix } = table;
  const places = source ?? Array.from({ length: nColumns }, (_, j) => j);
  const columns = Array.from(places, (place) => inputs[place]);
  if (matrix === null) return columns;
  return Array.from({ length: table.width }, (_, k) => {
    const parts = columns.filter((_, j) => matrix[k * nColumns + j] !== 0);
    return new Set(parts.flatMap((one) => [...one]));
  });
}

/** Words such as "height − 0.5·slope". */
function pairName(names, [i, j, a, b]) {
  const term = (name, factor) => (Math.abs(factor) === 1 ? name : `${shortly(factor)}·${name}`);
  return `${a < 0 ? "−" : ""}${term(names[i], a)} ${b < 0 ? "−" : "+"} ${term(names[j], b)}`;
}

/** A size to three digits, as Python's %.3g. */
function shortly(factor) {
  const size = Math.abs(factor);
  if (size === 0) return "0";
  const exponent = Number(size.toExponential(2).split("e")[1]);
  if (exponent >= -4 && exponent < 3) return String(Number(size.toPrecision(3)));
  const [digits, power] = size.toExponential(2).split("e");
  const sign = power.startsWith("-") ? "-" : "+";
  return `${Number(digits)}e${sign}${power.slice(1).padStart(2, "0")}`;
}

// === The model: model.py =========================================================================

const OF_SEVERAL_VALUES = [
  ...TREES,
  "Forest",
  "Additive",
  "Averaged",
  "Mapped",
  "Exponential",
  "Hinges",
];
const MOST_MODELS = 1000; // that are averaged

/** A header and its arrays as a model, all of it checked. */
function modelOf(header, arrays) {
  const keys = [
    "method",
    "predictor",
    "n_features",
    "n_gating_features",
    "feature_names",
    "classes",
    "parameters",
    "attributes",
    "record",
    "preparation",
  ];
  for (const name of keys) {
    if (!(name in header)) refuse(`The model file does not say its ${name}.`);
  }
  const [nFeatures, nGating] = [header.n_features, header.n_gating_features];
  const isCount = (value, least) => typeof value === "number" && value >= least && value < 2 ** 31;
  if (!isCount(nFeatures, 1) || !isCount(nGating, 0)) {
    refuse("The model file names no whole number of features.");
  }
  const preparation = preparationOf(header, arrays, nFeatures);
  const width = (preparation === null ? nFeatures : preparation.width) + nGating;
  const described = parse(header.predictor, arrays);
  const predictor = checked(described, "predictor", [width]);
  require(predictor.nOutputs >= 1, described.kind, "it has no outputs");
  const { nOutputs } = predictor;
  const classes = classesIn(parse(header.classes, arrays), nOutputs, described.kind);
  const names = namesIn(header.feature_names, nFeatures);
  const parameters = parse(header.parameters, arrays);
  if (!(parameters instanceof Map)) refuse("The model file's parameters are described wrongly.");
  const others = othersIn(header, arrays, nFeatures + nGating, nOutputs);
  return new Model({
    method: String(plain(header.method)),
    kind: described.kind,
    predictor,
    nFeatures,
    nGating,
    names,
    classes,
    preparation,
    preparedNames: isObject(header.preparation) ? header.preparation.names : null,
    record: isObject(header.record) ? plain(header.record) : {},
    outcome: outcomeIn(header, arrays, classes, nOutputs, 1 + others.length),
    others,
  });
}

/** The models that are averaged with the first one: each has a header of its own. */
function othersIn(header, arrays, nColumns, nOutputs) {
  const members = "members" in header ? header.members : [];
  if (!Array.isArray(members) || members.length >= MOST_MODELS) {
    refuse(`The model file lists no members, or ${MOST_MODELS} and more.`);
  }
  return members.map((member) => {
    if (!isObject(member) || "members" in member || "outcome" in member) {
      refuse("The model file's members are described wrongly.");
    }
    const one = modelOf(member, arrays);
    const nClasses = one.classes === null ? 0 : one.classes.length;
    if (nClasses !== classesOf(nOutputs) || one.nColumns !== nColumns) {
      refuse("The model file's members are of other rows or classes.");
    }
    return one;
  });
}

function outcomeIn(header, arrays, classes, nOutputs, nModels) {
  const found = header.outcome ?? null;
  if (found !== null && classes === null) {
    refuse("The model file has an outcome of classes for a regression.");
  }
  if (found !== null) return checked(parse(found, arrays), "outcome", [nOutputs, nModels]);
  if (nModels > 1) refuse("The model file does not say how its members are averaged.");
  return plainOutcome([], null, nOutputs);
}

/** Distinct finite values of one kind, or null. */
function classesIn(found, nOutputs, kind) {
  const wrong = () => refuse(`The model file has other classes than its ${nOutputs} outputs.`);
  if (found === null) {
    return nOutputs === 1 || OF_SEVERAL_VALUES.includes(kind) ? null : wrong();
  }
  const isRow = found instanceof Tensor && found.shape.length === 1;
  const labels = isRow ? labelsOf(found) : Array.isArray(found) ? found : wrong();
  const typeOf = (one) =>
    one instanceof Real ? "real" : typeof one === "bigint" ? "number" : typeof one;
  const types = new Set(labels.map(typeOf));
  const values = labels.map((one) => (one instanceof Real ? one.value : one));
  let good = labels.length === classesOf(nOutputs) && types.size === 1;
  good &&= ["string", "boolean", "number", "real"].includes(typeOf(labels[0]));
  good &&= new Set(values).size === values.length && values.every((one) => one === one);
  return good ? values : wrong();
}

function labelsOf({ type, data }) {
  return Array.from(data, (value) => {
    if (type === "b1") return value !== 0;
    if (type.startsWith("f")) return new Real(value);
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  });
}

function namesIn(names, nFeatures) {
  if (names === null) return null;
  const good = Array.isArray(names) && names.length === nFeatures;
  if (!good || !names.every((name) => typeof name === "string")) {
    refuse("The model file's feature names are not those of its features.");
  }
  return names;
}

class Model {
  #parts;

  constructor(parts) {
    this.#parts = parts;
    this.method = parts.method;
    this.kind = parts.kind;
    this.classes = parts.classes;
    this.record = parts.record;
  }

  /** Cells of a row. */
  get nColumns() {
    return this.#parts.nFeatures + this.#parts.nGating;
  }

  get nOutputs() {
    return this.#parts.predictor.nOutputs;
  }

  /** The raw columns of a row: name, kind ("number", "text" or "date"), and known categories. */
  get columns() {
    const { preparation, nFeatures } = this.#parts;
    const readings = (preparation && firstTable(preparation).readings) ?? [];
    return this.#columnNames().map((name, column) => {
      const own = readings.filter((one) => one.column === column && column < nFeatures);
      if (own.some((one) => one.isOfDates)) return { name, kind: "date" };
      const found = { name, kind: own.some((one) => one.isOfText) ? "text" : "number" };
      const known = own.find((one) => one.categories?.length);
      return known ? { ...found, categories: [...known.categories] } : found;
    });
  }

  /** What each score speaks for: the second of two classes, each of several, or values. */
  get outputNames() {
    const { nOutputs } = this;
    if (this.classes !== null)
      return (nOutputs === 1 ? this.classes.slice(1) : this.classes).map(String);
    return nOutputs === 1 ? ["value"] : numbered("value ", nOutputs);
  }

  get givesProbabilities() {
    return this.#parts.outcome.givesProbabilities;
  }

  get givesSupportScore() {
    return this.#supporting() !== undefined;
  }

  /** Scores: numbers, or an array for each row if there are several outputs. */
  decisionFunction(rows) {
    if (this.#parts.others.length) {
      throw new Error(
        `${1 + this.#parts.others.length} calibrated models are averaged here, which have no ` +
          "scores in common: ask for predictProba.",
      );
    }
    const { scores } = this.#scores(this.#read(rows));
    return listed(scores, this.nOutputs);
  }

  /** Labels, or the values of a regression; of several labels, 0 and 1 for each. */
  predict(rows) {
    const { n, scores, single } = this.#allScores(rows);
    if (this.classes === null) return listed(scores[0], this.nOutputs);
    const { outcome } = this.#parts;
    if (outcome.isOfEachLabel) {
      return listed(scores[0], this.nOutputs).map((row) => row.map((score) => (score > 0 ? 1 : 0)));
    }
    return Array.from({ length: n }, (_, i) => this.classes[outcome.place(scores, single, i)]);
  }

  /** Probabilities of the classes, an array for each row. */
  predictProba(rows) {
    const { outcome, method } = this.#parts;
    if (!outcome.givesProbabilities) {
      throw new Error(
        `The ${method} of this file gives no probabilities: save one with loss='log_loss', or ` +
          "CalibratedClassifierCV around it.",
      );
    }
    const { n, scores, single } = this.#allScores(rows);
    return Array.from({ length: n }, (_, i) => {
      const found = [...outcome.chances(scores, single, i)];
      if (!found.every(Number.isFinite)) {
        throw new Error("The scores are too large for probabilities.");
      }
      return found;
    });
  }

  /**
   * What answers for each row: `active` components and their `gates`, as Python's explain() has
   * them, and `region`, the one that counts most; null where several trees or models answer.
   */
  regions(rows) {
    return this.#explained(rows, (found) => {
      const { component, active, gates } = found;
      if (!active) {
        throw new Error(
          `The ${this.method} of this file has no regions: all of it answers for every row.`,
        );
      }
      const region = found.region ?? regionOf(component, active, gates);
      return { component, active, gates, region };
    });
  }

  /**
   * Each score taken apart, as Python's explain(): `base` and all `values` add up to `score`.
   * Several outputs have an array of each. Of values that a forest gives as exponentials, the
   * logarithm is taken apart.
   */
  contributions(rows) {
    return this.#explained(rows, (found, told, i) => {
      const { names, values, base } = this.#told(found, told, i);
      const nOutputs = base.length;
      const width = names.length;
      const each = Array.from({ length: nOutputs }, (_, o) => [
        ...values.subarray(o * width, (o + 1) * width),
      ]);
      const score = each.map((one, o) => one.reduce((sum, value) => sum + value, 0) + base[o]);
      return nOutputs === 1
        ? { names, values: each[0], base: base[0], score: score[0] }
        : { names, values: each, base: [...base], score };
    });
  }

  /** How strongly the nearest local kernel answers for each row: 0 where it knows nothing. */
  supportScore(rows) {
    const predictor = this.#supporting();
    if (predictor === undefined) {
      throw new Error(
        `The ${this.method} of this file does not know how far a row is from all that it has ` +
          "seen: fit a model of local kernels.",
      );
    }
    const { X, n } = this.#prepared(this.#read(rows));
    const { nFeatures, single } = this.#parts.predictor;
    return Array.from({ length: n }, (_, i) =>
      predictor.support(...seenBy(predictor, single, X, i * nFeatures)),
    );
  }

  #supporting() {
    const { predictor } = this.#parts;
    return [predictor, ...(predictor.members ?? [])].find((one) => one.support);
  }

  #columnNames() {
    const { names, nFeatures, nGating } = this.#parts;
    return (this.#parts.allNames ??= [
      ...(names ?? numbered("x", nFeatures)),
      ...numbered("gating ", nGating),
    ]);
  }

  #read(given) {
    if (given instanceof Rows) return given;
    const { preparation, nFeatures } = this.#parts;
    const used = preparation === null ? null : (preparation.used ??= usedColumns(preparation));
    const isUsed = (column) => used === null || column >= nFeatures || used.has(column);
    return new Rows(given, this.#columnNames(), isUsed);
  }

  /** Rows as the predictor takes them. */
  #prepared(rows) {
    const { preparation, predictor, nFeatures, nGating } = this.#parts;
    const { n } = rows;
    const width = predictor.nFeatures;
    const keeps = predictor.takesMissing === true;
    let X = rows.flat;
    if (preparation === null && !(X instanceof Float64Array)) {
      X = new Float64Array(n * width);
      for (let i = 0; i < n; i++)
        for (let c = 0; c < width; c++) X[i * width + c] = rows.number(i, c);
    } else if (preparation !== null) {
      const made = prepare(preparation, rows, keeps);
      X = nGating ? withGating(made, preparation.width, rows, nFeatures, nGating) : made;
    }
    if (predictor.single) X = new Float64Array(new Float32Array(X)); // each number rounded
    for (let k = 0; k < X.length; k++) {
      const x = X[k];
      if (x - x !== 0 && !(keeps && x !== x)) {
        const row = Math.floor(k / width);
        if (x !== x)
          throw new Error(
            `Row ${row} holds NaN or a missing value; the model takes finite numbers.`,
          );
        throw new Error(`Row ${row} holds numbers that are too large.`);
      }
    }
    return { X, n };
  }

  #scores(rows) {
    const { X, n } = this.#prepared(rows);
    const { predictor } = this.#parts;
    const scores = scoresOf(predictor, X, n);
    for (let k = 0; k < scores.length; k++) {
      if (!Number.isFinite(scores[k])) {
        const row = Math.floor(k / predictor.nOutputs);
        throw new Error(
          `The scores of row ${row} are not finite: the model's numbers, or the row's, are too large.`,
        );
      }
    }
    return { n, scores, single: predictor.single };
  }

  /** Scores of this model and of those that are averaged with it. */
  #allScores(given) {
    const rows = this.#read(given);
    const first = this.#scores(rows);
    const others = this.#parts.others.map((one) => one.#scores(one.#read(given)).scores);
    return { ...first, scores: [first.scores, ...others] };
  }

  #explained(given, tell) {
    if (this.#parts.others.length) {
      throw new Error("Several models are averaged in this file, of which none explains the mean.");
    }
    const { predictor } = this.#parts;
    const rows = this.#read(given);
    const { X, n } = this.#prepared(rows);
    return Array.from({ length: n }, (_, i) => {
      const at = i * predictor.nFeatures;
      const x = X.subarray(at, at + predictor.nFeatures);
      return tell(predictor.explain(X, at), { x, rows }, i);
    });
  }

  /** An explanation in raw columns, where each column tells where it is from. */
  #told(found, { x, rows }, i) {
    const { preparation, predictor, names: given, nFeatures, nGating } = this.#parts;
    const names = given ?? numbered("x", nFeatures);
    const base = found.intercepts;
    const nOutputs = base.length;
    if (found.shares) {
      const n = found.shares.length / nOutputs;
      return { names: numbered("kernel ", n), values: found.shares, base };
    }
    const width = predictor.nFeatures - (found.coefficients ? nGating : 0); // a gate's own add nothing
    let own = found;
    if (found.coefficients && nGating) {
      const kept = found.coefficients.filter((_, k) => k % predictor.nFeatures < width);
      own = { ...found, coefficients: kept };
    }
    const pairs = found.pairs ?? [];
    const withPairs = (known, some) => [...known, ...some.map((pair) => pairName(known, pair))];
    const { contributions } = withScores(own, x, 0, width);
    if (preparation === null)
      return { names: withPairs(names, pairs), values: contributions, base };
    if (isAffine(preparation) && !(found.parts && preparation.matrix !== null)) {
      if (found.parts) return { names: withPairs(names, pairs), values: contributions, base };
      return { names, ...inOriginalUnits(own, preparation, x, rows, i) };
    }
    const sources = pairs.length ? null : (preparation.origins ??= origins(preparation) ?? "none");
    if (sources === null || sources === "none") {
      const made = this.#parts.preparedNames;
      const isGood =
        Array.isArray(made) &&
        made.length === width &&
        made.every((one) => typeof one === "string");
      const own = isGood ? made : numbered("x", width);
      return { names: withPairs(own, pairs), values: contributions, base };
    }
    return { ...summed(contributions, sources, names, nOutputs), base };
  }
}

const numbered = (word, n) => Array.from({ length: n }, (_, k) => `${word}${k}`);

/** The same score, told in the features before they were scaled or mixed. */
function inOriginalUnits({ coefficients, intercepts }, table, x, rows, i) {
  const { matrix, offset, shift, scale, nColumns, width } = table;
  const nOutputs = intercepts.length;
  const base = Float64Array.from(intercepts);
  const values = new Float64Array(nOutputs * nColumns);
  for (let o = 0; o < nOutputs; o++) {
    for (let j = 0; j < nColumns; j++) {
      let slope = matrix === null ? coefficients[o * width + j] : 0;
      if (matrix !== null) {
        for (let k = 0; k < width; k++)
          slope += coefficients[o * width + k] * matrix[k * nColumns + j];
      }
      const [by, from] = [scale === null ? 1 : scale[j], shift === null ? 0 : shift[j]];
      slope /= by;
      base[o] -= slope * from;
      values[o * nColumns + j] = slope * (matrix === null ? x[j] * by + from : rows.number(i, j));
    }
    if (matrix !== null) base[o] += dot(coefficients, o * width, offset, 0, width);
  }
  return { values, base };
}

/** One contribution per raw column; `origins` is the raw column of each prepared one. */
function summed(contributions, origins, names, nOutputs) {
  const values = new Float64Array(nOutputs * names.length);
  for (let o = 0; o < nOutputs; o++) {
    origins.forEach((origin, j) => {
      values[o * names.length + origin] += contributions[o * origins.length + j];
    });
  }
  return { names, values };
}

/** The component that counts most; of a path its end. */
function regionOf(component, active, gates) {
  if (Array.isArray(active[0]) || ["leaf", "member", "unit"].includes(component)) return null;
  if (component === "node") return active[active.length - 1];
  return active[largest(gates, 0, gates.length)];
}

function withGating(made, width, rows, nFeatures, nGating) {
  const whole = width + nGating;
  const X = new Float64Array(rows.n * whole);
  for (let i = 0; i < rows.n; i++) {
    X.set(made.subarray(i * width, (i + 1) * width), i * whole);
    for (let g = 0; g < nGating; g++) X[i * whole + width + g] = rows.number(i, nFeatures + g);
  }
  return X;
}

/** One number for each row, or an array of several. */
function listed(scores, nOutputs) {
  if (nOutputs === 1) return [...scores];
  return Array.from({ length: scores.length / nOutputs }, (_, i) => [
    ...scores.subarray(i * nOutputs, (i + 1) * nOutputs),
  ]);
}
