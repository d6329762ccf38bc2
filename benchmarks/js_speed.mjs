/**
 * Processor microseconds a row in Node: nearlinear.js, and ONNX Runtime where it is installed.
 *
 *     node js_speed.mjs FOLDER MODULE [NODE_MODULES]
 *
 * FOLDER has rows.f32, NAME.nlm and NAME.onnx; the answer is JSON on standard output.
 */
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, module, modules] = process.argv.slice(2);
const { load } = await import(pathToFileURL(module));
const ROUNDS = 9;
const SINGLE = 200; // rows, one at a time, in a round
const bytes = readFileSync(join(folder, "rows.f32"));
const numbers = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
const d = JSON.parse(readFileSync(join(folder, "shape.json"), "utf-8")).n_features;
const n = numbers.length / d;

/** Processor time, since others are at work on the machine. */
function now() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function measured(start, batch, one) {
  const began = now();
  await start();
  const loaded = (now() - began) / 1000;
  const times = { batch: [], one: [] };
  for (let round = 0; round < ROUNDS; round++) {
    let at = now();
    await batch();
    times.batch.push((now() - at) / n);
    at = now();
    for (let i = 0; i < SINGLE; i++) await one(i % n);
    times.one.push((now() - at) / SINGLE);
  }
  return { load_ms: loaded, batch_us: median(times.batch), one_us: median(times.one) };
}

function ours(name) {
  const rows = Float64Array.from(numbers);
  const lists = Array.from({ length: SINGLE }, (_, i) => [[...rows.subarray(i * d, i * d + d)]]);
  let model = null;
  return measured(
    () => (model = load(readFileSync(join(folder, `${name}.nlm`)))),
    () => model.predict(rows),
    (i) => model.predict(lists[i % SINGLE]),
  );
}

function theirs(runtime, provider, name) {
  const { InferenceSession, Tensor } = runtime;
  const options = { executionProviders: [provider], intraOpNumThreads: 1, interOpNumThreads: 1 };
  let session = null;
  const run = (some, count) =>
    session.run({ [session.inputNames[0]]: new Tensor("float32", some, [count, d]) }, ["label"]);
  return measured(
    async () => {
      const graph = new Uint8Array(readFileSync(join(folder, `${name}.onnx`)));
      session = await InferenceSession.create(graph, options);
    },
    () => run(numbers, n),
    (i) => run(numbers.slice(i * d, i * d + d), 1),
  );
}

const found = {};
for (const file of readdirSync(folder).filter((one) => one.endsWith(".nlm"))) {
  const name = file.replace(".nlm", "");
  found[name] = { "nearlinear.js": await ours(name) };
}
if (modules) {
  const require = createRequire(join(modules, "here.js"));
  for (const [title, provider] of [
    ["onnxruntime-web", "wasm"],
    ["onnxruntime-node", "cpu"],
  ]) {
    const runtime = require(title);
    if (provider === "wasm") runtime.env.wasm.numThreads = 1;
    for (const file of readdirSync(folder).filter((one) => one.endsWith(".onnx"))) {
      const name = file.replace(".onnx", "");
      found[name][title] = await theirs(runtime, provider, name);
    }
  }
}
process.stdout.write(JSON.stringify(found));
