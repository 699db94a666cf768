// The table of predictions sorts, filters and turns pages. Without this script it is a plain table, whole.
"use strict";
(() => {
  const table = document.getElementById("predictions-table");
  const status = document.getElementById("rows-shown");
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  const names = heads.map((head) => head.textContent);
  const numeric = heads.map((head) => head.classList.contains("number"));
  const period = Number(table.dataset.period);
  const angular = new Set(["mean", "lower", "upper"].filter((key) => key in table.dataset).map((key) => Number(table.dataset[key])));

  // A row is its element, one key a column (null where the value is missing) and its text for searching.
  const rows = Array.from(body.rows, (element) => ({
    element,
    keys: Array.from(element.cells, (cell, column) => {
      const key = cell.dataset.v ?? cell.textContent;
      if (key === "" || (numeric[column] && Number.isNaN(Number(key)))) return null;
      return numeric[column] ? Number(key) : key;
    }),
    text: Array.from(element.cells, (cell) => cell.textContent).join(" ").toLowerCase(),
    drawn: false,
  }));
  const count = (number) => number.toLocaleString("en");
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  let order = rows;
  let chosen = rows;
  let page = 0;
  let size = 25;

  // --- sorting: missing values come last both ways, and equal ones keep their order ---
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const sortBy = (column, descending) => {
    const compare = numeric[column] ? (a, b) => (a < b ? -1 : a > b ? 1 : 0) : collator.compare;
    order = rows.slice().sort((one, other) => {
      const a = one.keys[column];
      const b = other.keys[column];
      if (a === null || b === null) return (a === null) - (b === null);
      return descending ? compare(b, a) : compare(a, b);
    });
    body.append(...order.map((row) => row.element));
  };
  const resort = (column) => {
    const next = { none: "ascending", ascending: "descending", descending: "none" }[heads[column].getAttribute("aria-sort")];
    heads.forEach((head) => head.setAttribute("aria-sort", "none"));
    heads[column].setAttribute("aria-sort", next);
    if (next === "none") {
      order = rows;
      body.append(...rows.map((row) => row.element));
    } else {
      sortBy(column, next === "descending");
    }
    choose();
  };
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", textContent: names[column] });
    button.addEventListener("click", () => resort(column));
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
  });

  // --- filtering: words, "column > number", or "column 350..10" (a range that may go round) ---
  const number = "([-\u2212]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?)";
  const comparison = new RegExp(`^(.+?)\\s*(<=|>=|!=|=|<|>|\u2264|\u2265)\\s*${number}$`, "i");
  const range = new RegExp(`^(.+?)\\s+${number}\\s*\\.\\.\\s*${number}$`, "i");
  const value = (text) => Number(text.replace("\u2212", "-"));
  const tests = {
    "<": (a, b) => a < b, ">": (a, b) => a > b, "<=": (a, b) => a <= b, ">=": (a, b) => a >= b,
    "\u2264": (a, b) => a <= b, "\u2265": (a, b) => a >= b, "=": (a, b) => a === b, "!=": (a, b) => a !== b,
  };
  const find = (name) => {
    const wanted = name.trim().toLowerCase();
    const exact = names.findIndex((other) => other.toLowerCase() === wanted);
    if (exact >= 0) return exact;
    const beginning = names.flatMap((other, column) => (other.toLowerCase().startsWith(wanted) ? [column] : []));
    if (beginning.length === 1) return beginning[0];
    throw new Error(`No column is called \u201c${name.trim()}\u201d. The columns are: ${names.join(", ")}.`);
  };
  const condition = (text) => {
    let found = text.match(comparison);
    if (found) {
      const column = find(found[1]);
      const [test, bound] = [tests[found[2]], value(found[3])];
      return (row) => row.keys[column] !== null && test(row.keys[column], bound);
    }
    found = text.match(range);
    if (found) {
      const column = find(found[1]);
      const [low, high] = [value(found[2]), value(found[3])];
      if (!angular.has(column)) return (row) => row.keys[column] !== null && row.keys[column] >= low && row.keys[column] <= high;
      const from = (start, end) => (((end - start) % period) + period) % period;
      const width = high - low >= period ? period : from(low, high);
      return (row) => row.keys[column] !== null && from(low, row.keys[column]) <= width;
    }
    const words = text.toLowerCase();
    return (row) => row.text.includes(words);
  };
  const choose = () => {
    const parts = filter.value.split(/[,;&]|\band\b/i).map((part) => part.trim()).filter(Boolean);
    try {
      const conditions = parts.map(condition);
      chosen = order.filter((row) => conditions.every((test) => test(row)));
      filter.removeAttribute("aria-invalid");
      page = 0;
      show();
    } catch (error) {
      filter.setAttribute("aria-invalid", "true");
      status.classList.add("bad");
      status.textContent = error.message;
    }
  };

  // --- pages ---
  const show = () => {
    const first = page * size;
    const last = Math.min(first + size, chosen.length);
    const kept = new Set(chosen);
    const visible = new Set(chosen.slice(first, last));
    rows.forEach((row) => {
      row.element.hidden = !kept.has(row);
      row.element.classList.toggle("elsewhere", !visible.has(row));
      if (visible.has(row)) draw(row);
    });
    const all = chosen.length === rows.length ? `${count(rows.length)} rows` : `${count(chosen.length)} of ${count(rows.length)} rows match`;
    const part = last - first < chosen.length ? `; shown: ${count(first + 1)} to ${count(last)}` : "";
    status.classList.remove("bad");
    status.replaceChildren(all, make("span", { className: "paged", textContent: part }), ".");
    const pages = Math.max(1, Math.ceil(chosen.length / size));
    where.textContent = `Page ${count(page + 1)} of ${count(pages)}`;
    [buttons[0].disabled, buttons[1].disabled] = [page === 0, page === 0];
    [buttons[2].disabled, buttons[3].disabled] = [page >= pages - 1, page >= pages - 1];
    pager.hidden = pages === 1;
  };
  const go = (by) => {
    const pages = Math.ceil(chosen.length / size);
    page = Math.max(0, Math.min(pages - 1, page + by));
    show();
  };

  // --- a small dial for each row that is shown: the arc and, as a hand, the mean ---
  const dialled = angular.size === 3;
  const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, text]) => element.setAttribute(key, text));
    return element;
  };
  const compass = "compass" in table.dataset;
  const turn = "axial" in table.dataset ? Math.PI : 2 * Math.PI;
  const point = (angle, radius) => {
    const turned = (turn * angle) / period;
    const [x, y] = compass ? [Math.sin(turned), -Math.cos(turned)] : [Math.cos(turned), -Math.sin(turned)];
    return `${(20 + radius * x).toFixed(2)} ${(20 + radius * y).toFixed(2)}`;
  };
  const sector = (lower, upper) => {
    if (upper - lower >= period * (1 - 1e-6)) return [svg("circle", { class: "arc", cx: 20, cy: 20, r: 18 })];
    const width = (((upper - lower) % period) + period) % period;
    const flags = `${width * turn > period * Math.PI ? 1 : 0} ${compass ? 1 : 0}`;
    return sides.map((side) =>
      svg("path", { class: "arc", d: `M20 20L${point(lower, side * 18)}A18 18 0 ${flags} ${point(upper, side * 18)}Z` }));
  };
  const sides = "axial" in table.dataset ? [1, -1] : [1];
  const draw = (row) => {
    if (!dialled || row.drawn) return;
    row.drawn = true;
    const [mean, lower, upper] = ["mean", "lower", "upper"].map((key) => row.keys[Number(table.dataset[key])]);
    const picture = svg("svg", { viewBox: "0 0 40 40", "aria-hidden": "true", focusable: "false" });
    if (lower !== null && upper !== null) picture.append(...sector(lower, upper));
    picture.append(svg("circle", { class: "ring", cx: 20, cy: 20, r: 18 }));
    if (mean !== null) sides.forEach((side) => picture.append(svg("path", { class: "hand", d: `M20 20L${point(mean, side * 15)}` })));
    row.element.cells[1].append(picture);
  };
  if (dialled) {
    const meaning = "The line points to the mean; the coloured sector is the arc from lower to upper.";
    heads[0].after(make("th", { scope: "col", className: "dial", textContent: "dial", title: meaning }));
    rows.forEach((row) => row.element.cells[0].after(make("td", { className: "dial" })));
    table.classList.add("dialled");
  }

  // --- the controls ---
  const example = numeric.lastIndexOf(true) < 0 ? "" : names.find((name) => name === "variance") ?? names[numeric.lastIndexOf(true)];
  const filter = make("input", { type: "search", id: "filter", autocomplete: "off", spellcheck: false });
  filter.setAttribute("aria-describedby", "filter-hint");
  filter.addEventListener("input", () => choose());
  const sizes = make("select", { id: "page-size" });
  [25, 100, 500].forEach((length) => sizes.append(make("option", { value: length, textContent: count(length) })));
  sizes.append(make("option", { value: Math.max(1, rows.length), textContent: "all" }));
  sizes.addEventListener("change", () => {
    size = Number(sizes.value);
    page = 0;
    show();
  });
  const hint = make("p", { className: "hint", id: "filter-hint" }, "Words, or conditions such as ");
  hint.append(make("code", { textContent: `${example} > 0.5` }));
  if (dialled) hint.append(", ", make("code", { textContent: `${names[Number(table.dataset.mean)]} ${period * 0.9 >= 10 ? Math.round(period * 0.9) : 5.7}..${period * 0.1 >= 10 ? Math.round(period * 0.1) : 0.6}` }), " (a range may go round)");
  hint.append("; several with commas. Click on a column\u2019s name to sort.");
  const controls = make(
    "div",
    { className: "controls" },
    make("div", { className: "filter" }, make("label", { htmlFor: "filter", textContent: "Show only rows with" }), filter),
    make("div", {}, make("label", { htmlFor: "page-size", textContent: "Rows a page" }), sizes),
  );
  status.before(controls, hint);
  const where = make("span", {});
  const buttons = [["First", -Infinity], ["Previous", -1], ["Next", 1], ["Last", Infinity]].map(([label, by]) => {
    const button = make("button", { type: "button", textContent: label });
    button.addEventListener("click", () => go(by));
    return button;
  });
  const pager = make("div", { className: "pager" }, buttons[0], buttons[1], where, buttons[2], buttons[3]);
  document.getElementById("pager").append(pager);
  show();
})();
