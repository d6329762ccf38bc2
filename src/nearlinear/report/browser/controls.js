// A field, a menu or a slider for each column of a row.

function control(one, rowOf, set) {
  const id = `column-${one.column}`,
    text = (v) => (v === null || v === undefined ? "" : String(v));
  const parts = [];
  const show = () => {
    const value = rowOf()[one.column];
    parts.forEach((part) => part(value));
  };
  const unknown =
    one.can_miss &&
    el("input", {
      type: "checkbox",
      "aria-label": `${one.name} is missing`,
      onchange: (event) => {
        set(
          event.target.checked
            ? null
            : one.kind === "number"
              ? middle(one)
              : one.kind === "text"
                ? one.values[0]
                : one.low,
        );
        show();
      },
    });
  if (unknown)
    parts.push((value) => {
      unknown.checked = value === null;
    });
  const ask = unknown && el("label", { class: "ask" }, unknown, "missing");
  let input,
    slider = null;
  if (one.kind === "text") {
    input = el(
      "select",
      { id, onchange: (event) => set(event.target.value) },
      one.values.map((value) => el("option", { value }, value === "" ? "(empty)" : value)),
    );
    parts.push((value) => {
      input.disabled = value === null;
      if (value !== null && !one.values.includes(String(value)))
        input.append(el("option", { value: String(value) }, String(value)));
      if (value !== null) input.value = String(value);
    });
  } else if (one.kind === "date") {
    input = el("input", {
      id,
      type: "text",
      size: 12,
      onchange: (event) => set(event.target.value.trim() || null),
    });
    parts.push((value) => {
      input.disabled = value === null;
      input.value = text(value);
    });
  } else {
    const give = (value) => {
      if (value !== "" && Number.isFinite(Number(value))) {
        set(Number(value));
        show();
      }
    };
    input = el("input", {
      id,
      type: "number",
      step: "any",
      onchange: (event) => give(event.target.value),
    });
    slider = el("input", {
      type: "range",
      min: one.low,
      max: one.high,
      step: one.step,
      "aria-label": `${one.name}, slider`,
      oninput: (event) => give(event.target.value),
    });
    parts.push((value) => {
      input.disabled = slider.disabled = value === null;
      input.value = text(value === null ? null : Number(Number(value).toPrecision(10)));
      if (value !== null) slider.value = value;
    });
  }
  show();
  return {
    show,
    node: el(
      "div",
      { class: "control" },
      el(
        "div",
        { class: "line" },
        el("label", { for: id }, one.name),
        el("span", { class: "right" }, !slider && ask, input),
      ),
      slider && el("div", { class: "line slide" }, slider, ask),
    ),
  };
}

function middle(one) {
  return one.is_whole ? Math.round((one.low + one.high) / 2) : (one.low + one.high) / 2;
}
