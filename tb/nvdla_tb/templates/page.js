// What a page does beyond showing itself: tables that are sorted and filtered, commands that are copied.
// Without this script, as where a server forbids it, everything is still there.
const LONG = 10;

function valueOf(row, column) {
  return row.cells[column].textContent.trim();
}

function compare(numeric, left, right) {
  if (!numeric) return left.localeCompare(right, undefined, { numeric: true });
  const [a, b] = [parseFloat(left), parseFloat(right)];
  if (isNaN(a) || isNaN(b)) return isNaN(a) - isNaN(b);
  return a - b;
}

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    const numeric = head.classList.contains("n");
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      // Numbers are looked at from the largest down.
      const now = head.getAttribute("aria-sort");
      const rising = now === null ? !numeric : now === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [valueOf(row, column), row]);
      rows.sort(([a], [b]) => {
        const last = numeric && (isNaN(parseFloat(a)) || isNaN(parseFloat(b)));
        return compare(numeric, a, b) * (rising || last ? 1 : -1);
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}

function choices(table, column, head) {
  const counts = new Map();
  for (const row of table.tBodies[0].rows) {
    const value = valueOf(row, column);
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  if (counts.size < 2) return null;
  const select = document.createElement("select");
  select.setAttribute("aria-label", head.textContent);
  select.add(new Option(`${head.textContent}: all`, ""));
  for (const [value, count] of counts) select.add(new Option(`${value} (${count})`, value));
  return { column, select };
}

function searchable(table, title) {
  const rows = [...table.tBodies[0].rows].map((row) => [row.textContent.toLowerCase(), row]);
  const tools = document.createElement("div");
  const input = document.createElement("input");
  const shown = document.createElement("span");
  tools.className = "tools";
  input.type = "search";
  input.placeholder = "words in a row";
  input.setAttribute("aria-label", `search in ${title}`);
  const heads = [...table.tHead.rows[0].cells];
  const selects = heads
    .map((head, column) => (head.classList.contains("s") ? choices(table, column, head) : null))
    .filter((found) => found !== null);
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const [text, row] of rows) {
      const chosen = selects.every(({ column, select }) => !select.value || valueOf(row, column) === select.value);
      row.hidden = !chosen || !words.every((word) => text.includes(word));
      count += !row.hidden;
    }
    shown.textContent = `${count} of ${rows.length} rows`;
  };
  tools.append(input, ...selects.map(({ select }) => select), shown);
  tools.addEventListener("input", filter);
  tools.addEventListener("change", filter);
  filter();
  table.parentElement.before(tools);
}

function selectAndCopy(pre) {
  getSelection().selectAllChildren(pre);
  const done = document.execCommand("copy");
  if (done) getSelection().removeAllRanges();
  return done;
}

async function copy(pre) {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    return true;
  } catch {
    // Pages that come over plain HTTP have no clipboard, and a browser may deny it.
    return selectAndCopy(pre);
  }
}

function copyable(pre) {
  const around = document.createElement("div");
  const button = document.createElement("button");
  around.className = "copied";
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    button.textContent = (await copy(pre)) ? "copied" : "selected";
    setTimeout(() => (button.textContent = "copy"), 2000);
  });
  pre.before(around);
  around.append(pre, button);
}

for (const table of document.querySelectorAll("table")) {
  const heading = table.closest("section")?.querySelector("h2, h3")?.textContent ?? document.title;
  if (table.tBodies[0].rows.length >= LONG) searchable(table, heading);
  if (table.tBodies[0].rows.length > 1) sortable(table);
}
document.querySelectorAll("pre").forEach(copyable);
