/** Scores of nearlinear's model files (.nlm), in browsers and in Node, without any dependency. */

/** The file is no model file, is damaged, or is of a newer version; the message says which. */
export class ModelFileError extends Error {}

/** A cell of a row; null, undefined, NaN and "" are missing. Dates may be ISO 8601 texts. */
export type Cell = number | string | boolean | null | undefined | bigint | Date;

/** Rows as arrays, as objects by column name, or all their numbers one after the other. */
export type Rows =
  | readonly (readonly Cell[] | Readonly<Record<string, Cell>> | Float64Array | Float32Array)[]
  | Float64Array
  | Float32Array;

export type Label = string | number | boolean | bigint;

export interface Column {
  name: string;
  kind: "number" | "text" | "date";
  /** What the fit has seen, where the model knows it. */
  categories?: string[] | number[];
}

/** A score taken apart: base and all values add up to it. */
export interface Contribution {
  /** What the values are of: columns, pairs of columns, or kernels. */
  names: string[];
  values: number[];
  base: number;
  score: number;
}

/** The same for every output. */
export interface Contributions {
  names: string[];
  values: number[][];
  base: number[];
  score: number[];
}

/** What answers for a row. */
export interface Region {
  /** What `active` counts. */
  component:
    "anchor" | "node" | "kernel" | "landmark" | "leaf" | "member" | "unit" | "component";
  /** The components that answer; one list for each output or tree where these have their own. */
  active: number[] | number[][];
  /** How much each of them counts. */
  gates: number[] | number[][];
  /** The one that counts most, of a path its end; null where many answer together. */
  region: number | null;
}

export interface Model {
  /** The estimator in Python, such as "LDKLClassifier". */
  readonly method: string;
  /** What gives the scores, such as "TreePath". */
  readonly kind: string;
  /** Labels in the order of the scores; null for values. */
  readonly classes: Label[] | null;
  /** What the file says of the training. */
  readonly record: Record<string, unknown>;
  readonly columns: Column[];
  readonly nColumns: number;
  readonly nOutputs: number;
  readonly outputNames: string[];
  readonly givesProbabilities: boolean;
  readonly givesSupportScore: boolean;

  /** Scores: positive for the second of two classes, else one for each class or value. */
  decisionFunction(rows: Rows): number[] | number[][];
  /** Labels or values; of several labels, 0 and 1 for each. */
  predict(rows: Rows): Label[] | number[][];
  /** Probabilities of the classes. */
  predictProba(rows: Rows): number[][];
  /** Which part of the model answers for each row. */
  regions(rows: Rows): Region[];
  /** Every score taken apart; exact. */
  contributions(rows: Rows): Contribution[] | Contributions[];
  /** How strongly the nearest local kernel answers: 0 where the model has seen nothing. */
  supportScore(rows: Rows): number[];
}

/** The model in the bytes of a file; throws a ModelFileError of one sentence. */
export function load(data: ArrayBuffer | ArrayBufferView): Model;
