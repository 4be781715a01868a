// Builds the page when it is loaded.

/** Fills the top of the page. */
function showSummary() {
  const counted = (wanted) => records.reduce((count, record) => count + (wanted(record) ? 1 : 0), 0);
  const facts = document.getElementById("facts");
  const fact = (key, value, choice) => {
    if (!value) return;
    const shown = element("dd");
    if (choice) {
      const button = element("button", "count-link", value.toLocaleString("en"));
      button.type = "button";
      button.addEventListener("click", choice);
      shown.append(button);
    } else shown.textContent = typeof value === "number" ? value.toLocaleString("en") : value;
    const pair = element("div");
    pair.append(element("dt", "", key), shown);
    facts.append(pair);
  };
  const only = (choice) => () => choose(choice);
  const packets = counted(isPacket);
  const wrong = records.reduce((count, record) => count + record.wrong, 0);
  const submissions = counted((record) => record.kind === "submission");
  fact("engines", [...new Set(records.filter((record) => record.engine).map((record) => record.engine))].join(", "));
  fact("submissions", submissions);
  fact("packets", packets);
  fact("draws, dispatches, blits", counted(isWork), only("@work"));
  fact("kernels", counted((record) => record.kind === "kernel"), only("@kernels"));
  fact("surfaces", counted((record) => record.name === "RENDER_SURFACE_STATE"), only("@surfaces"));
  fact("pictures", counted((record) => record.picture >= 0), only("@pictures"));
  fact("unknown packets", counted((record) => record.kind === "unknown"), only("@unknown"));
  fact("issues", wrong || "none", wrong ? only("@issues") : undefined);
  document.getElementById("brief").textContent = packets.toLocaleString("en") + " packets" + (wrong ? ", " + wrong.toLocaleString("en") + (wrong === 1 ? " issue" : " issues") : "");
  if (end && end.hang) {
    const hang = document.getElementById("hang");
    hang.hidden = false;
    hang.querySelector("pre").textContent = end.hang.split("\n").map(clean).join("\n");
  }
  const remarks = (end ? end.remarks : []).map(clean);
  if (damaged) remarks.unshift("This page is incomplete: a part of it is missing or damaged.");
  if (remarks.length) {
    document.getElementById("remarks").hidden = false;
    document.querySelector("#remarks ul").append(...remarks.map((text) => element("li", "", text)));
  }
}

function fillFilter() {
  const select = document.getElementById("filter");
  const names = new Map();
  for (const record of records) if (isPacket(record)) names.set(record.name, (names.get(record.name) ?? 0) + 1);
  const group = (label, choices) => {
    const made = element("optgroup");
    made.label = label;
    for (const [value, text] of choices) made.append(new Option(text, value));
    select.append(made);
  };
  select.append(new Option("everything", ""));
  group("Kinds", [
    ["@work", "draws, dispatches, blits"], ["@state", "state"], ["@issues", "with issues"], ["@unknown", "unknown or partly known"],
    ["@kernels", "kernels"], ["@surfaces", "surfaces"], ["@pictures", "surfaces with pictures"], ["@notes", "with remarks"],
  ]);
  group("Packets", [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => [name, name + " (" + count + ")"]));
  select.addEventListener("change", () => choose(select.value));
}

function choose(choice) {
  setFilter(choice);
  refresh();
  scrollTo(rowOf(currentRecord, currentPart), true);
  draw();
  if (sought) search(sought);
  const packets = shown === null ? records.length : shown.reduce((count, value) => count + (value === 2 ? 1 : 0), 0);
  say(packets.toLocaleString("en") + " records are shown");
}

function setPanel(open) {
  panel.hidden = !open;
  document.getElementById("toggle-panel").setAttribute("aria-expanded", open);
  document.body.classList.toggle("with-panel", open);
  showPanel();
  refresh();
  scrollTo(rowOf(currentRecord, currentPart), false);
  draw();
}

/** Goes to the fragment of the page's address: `#r12`, `#r12.3`, or `#0x100840`. */
function toHash() {
  const row = /^#r(\d+)(?:\.(\d+))?$/.exec(location.hash);
  if (row && Number(row[1]) < records.length) {
    goTo(Number(row[1]), row[2] === undefined ? -1 : Number(row[2]));
    return true;
  }
  const place = /^#(0x[0-9a-f]{1,12})$/i.exec(location.hash);
  const found = place ? [...recordsAt(Number(place[1]))].pop() : undefined;
  if (found !== undefined) goTo(found);
  return found !== undefined;
}

/** Keys that work everywhere except in text fields. */
function pageKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open) return;
  const inTree = document.activeElement === tree;
  if (event.key === "Escape") {
    // The browser would clear the search, which the key n still uses.
    event.preventDefault();
    if (narrow && panelOpen()) setPanel(false);
    tree.focus();
    return;
  }
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (inTree && records.length > 0 && treeKey(event)) {
    event.preventDefault();
    return;
  }
  const wrong = (record) => record.wrong > 0;
  const act = {
    "/": () => document.getElementById("query").select(),
    "?": () => document.getElementById("help").showModal(),
    n: () => toMatch(1),
    N: () => toMatch(-1),
    d: () => toNext(isWork, 1, "draw"),
    D: () => toNext(isWork, -1, "draw"),
    i: () => toNext(wrong, 1, "issue"),
    I: () => toNext(wrong, -1, "issue"),
    e: () => setPanel(!panelOpen()),
    f: () => document.getElementById("filter").focus(),
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
}

function listen() {
  const on = (id, name, act) => document.getElementById(id).addEventListener(name, act);
  document.addEventListener("keydown", pageKey);
  tree.addEventListener("scroll", drawSoon, { passive: true });
  tree.addEventListener("click", (event) => {
    const made = event.target.closest(".row");
    if (!made || event.target.closest("a") || String(getSelection())) return;
    const row = Number(made.dataset.row);
    const at = rowRecords[row];
    const part = rowParts[row];
    select(at, part);
    if (part < 0) toggle(at);
  });
  // Links in the tree and in the panel; a plain click stores the position for Back.
  document.querySelector("main").addEventListener("click", (event) => {
    const made = event.target.closest("a.link");
    if (!made || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (narrow && panelOpen()) setPanel(false);
    follow(made.hash);
    tree.focus({ preventScroll: true });
  });
  let waiting = 0;
  on("query", "input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(event.target.value), 120);
  });
  on("query", "keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (normal(event.target.value) === sought) toMatch(event.shiftKey ? -1 : 1);
      else {
        clearTimeout(waiting);
        search(event.target.value);
      }
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      tree.focus();
    }
  });
  on("find", "submit", (event) => event.preventDefault());
  on("next", "click", () => toMatch(1));
  on("previous", "click", () => toMatch(-1));
  on("open-all", "click", () => openAll(true));
  on("close-all", "click", () => openAll(false));
  on("toggle-panel", "click", () => setPanel(!panelOpen()));
  on("show-help", "click", () => document.getElementById("help").showModal());
  on("about", "toggle", refresh);
  addEventListener("hashchange", toHash);
  addEventListener("resize", refresh);
  addEventListener("beforeprint", printRows);
  addEventListener("afterprint", refresh);
}

/** Draws all rows for printing: on screen only those in view are drawn. */
function printRows() {
  const count = Math.min(rowCount, 5000);
  const made = Array.from({ length: count }, (_, row) => rowElement(row));
  if (count < rowCount) made.push(element("p", "note", "The first " + count + " of " + rowCount + " rows."));
  rows.replaceChildren(...made);
}

document.addEventListener("DOMContentLoaded", () => {
  tree = document.getElementById("tree");
  rows = document.getElementById("rows");
  panel = document.getElementById("panel");
  readAll();
  opened = new Uint8Array(records.length);
  records.forEach((record, at) => {
    if (record.kind === "submission") opened[at] = 1;
  });
  if (matchMedia("(max-width: 640px)").matches) document.getElementById("about").open = Boolean(end && end.hang);
  showSummary();
  fillFilter();
  listen();
  setPanel(matchMedia("(min-width: 1000px)").matches);
  if (records.length === 0) rows.append(element("p", "note", "Nothing was decoded."));
  if (!toHash()) tree.focus({ preventScroll: true });
  showPanel();
  document.documentElement.dataset.ready = Math.round(performance.now());
});
