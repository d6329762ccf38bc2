// Rows that people paste: lines of CSV, or JSON.

// A row of cells; `texts` are the numbers of columns that hold text, where "007" is no number.
function parsedRow(text, names, before, texts) {
  return cellsOf(text, names, before).map((value, k) => {
    if (value === null || texts.has(k)) return value === null ? null : String(value);
    const isNumber = typeof value === "string" && Number.isFinite(Number(value));
    return isNumber ? Number(value) : value;
  });
}

function cellsOf(text, names, before) {
  const trimmed = text.trim();
  if (!trimmed) throw new Error("Nothing is pasted: give a CSV line or JSON.");
  if (trimmed[0] === "{" || trimmed[0] === "[") return ofJson(trimmed, names, before);
  const lines = trimmed
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map(csvCells);
  const header = lines.length > 1 ? lines[0] : names;
  const cells = lines[lines.length > 1 ? 1 : 0];
  if (cells.length !== header.length)
    throw new Error(
      `The line has ${cells.length} cells, and there are ${header.length} columns: ${header.slice(0, 6).join(", ")}${header.length > 6 ? ", …" : ""}.`,
    );
  return byName(
    Object.fromEntries(
      header.map((name, k) => [names.includes(name) ? name : name.trim(), asCell(cells[k])]),
    ),
    names,
    before,
  );
}

function ofJson(text, names, before) {
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error("This is no JSON: check quotes, commas and brackets.");
  }
  if (
    Array.isArray(found) &&
    found.length === 1 &&
    typeof found[0] === "object" &&
    found[0] !== null
  )
    found = found[0];
  if (Array.isArray(found)) {
    if (found.length !== names.length)
      throw new Error(
        `The list has ${found.length} values, and there are ${names.length} columns.`,
      );
    return found;
  }
  return byName(found, names, before);
}

function byName(found, names, before) {
  const stranger = Object.keys(found).find((name) => !names.includes(name));
  const known = names.filter((name) => Object.hasOwn(found, name));
  if (!known.length)
    throw new Error(
      `None of these columns is known: the model has ${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""}.`,
    );
  if (stranger !== undefined && known.length < names.length)
    throw new Error(
      `There is no column ${stranger}: the model has ${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""}.`,
    );
  return names.map((name, k) => (Object.hasOwn(found, name) ? found[name] : before[k]));
}

function csvCells(line) {
  const cells = [],
    mark =
      !line.includes(",") && line.includes(";")
        ? ";"
        : !line.includes(",") && line.includes("\t")
          ? "\t"
          : ",";
  let text = "",
    quoted = false;
  for (let k = 0; k < line.length; k++) {
    const letter = line[k];
    if (quoted) {
      if (letter === '"' && line[k + 1] === '"') {
        text += '"';
        k++;
      } else if (letter === '"') quoted = false;
      else text += letter;
    } else if (letter === '"' && text === "") quoted = true;
    else if (letter === mark) {
      cells.push(text);
      text = "";
    } else text += letter;
  }
  cells.push(text);
  return cells;
}

function asCell(text) {
  return ["", "NA", "NaN", "nan", "null", "None", "?"].includes(text.trim()) ? null : text;
}
