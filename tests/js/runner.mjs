/**
 * Asks models for answers: reads jobs as JSON from standard input, writes answers as JSON.
 *
 * A job is {path, rows, single, asks}; an answer is {error} or {ask: answer or {error}}.
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { load } = await import(pathToFileURL(process.argv[2]));
const { jobs } = JSON.parse(readFileSync(0, "utf-8"));

function answered(ask) {
  try {
    return ask();
  } catch (error) {
    return { error: error.message, name: error.name };
  }
}

const answers = jobs.map(({ path, base64, rows, single, asks }) =>
  answered(() => {
    const bytes = path ? readFileSync(path) : Buffer.from(base64, "base64");
    const model = load(bytes);
    const given = single ? Float32Array.from(rows.flat(), (cell) => cell ?? NaN) : rows;
    return Object.fromEntries(
      asks.map((ask) => [
        ask,
        answered(() => (typeof model[ask] === "function" ? model[ask](given) : model[ask])),
      ]),
    );
  }),
);
process.stdout.write(JSON.stringify(answers));
