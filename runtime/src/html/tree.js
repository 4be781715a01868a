// The tree: draws the rows that are in view, and moves among them.

let tree, rows, rowHeight, narrow;
/** The current row. */
let currentRecord = 0;
let currentPart = -1;
/** The search text, in lower case; marked in the rows. */
let sought = "";

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A span in which the search text is marked. */
function span(className, text) {
  const made = element("span", className);
  mark(made, text);
  return made;
}

function mark(into, text) {
  let from = 0;
  if (sought) {
    const low = text.toLowerCase();
    for (let at = low.indexOf(sought); at >= 0; at = low.indexOf(sought, from)) {
      into.append(text.slice(from, at), element("mark", "", text.slice(at, at + sought.length)));
      from = at + sought.length;
    }
  }
  into.append(text.slice(from));
}

const rowId = (record, part) => "r" + record + (part >= 0 ? "." + part : "");

/** A link to a record, for the mouse; the keyboard follows it from its row. */
function link(to, text, focusable) {
  const made = element("a", "link", text);
  made.href = "#r" + to;
  if (!focusable) made.tabIndex = -1;
  return made;
}

function rowElement(row) {
  const at = rowRecords[row];
  const part = rowParts[row];
  const record = records[at];
  const made = element("div", "row");
  made.id = rowId(at, part);
  made.dataset.row = row;
  made.style.top = row * rowHeight + "px";
  made.setAttribute("role", "treeitem");
  if (at === currentRecord && part === currentPart) {
    made.classList.add("current");
    made.setAttribute("aria-selected", "true");
  }
  let level = record.depth + 1;
  if (part < 0) {
    const parent = parents[at];
    const before = parent >= 0 && opened[parent] ? partCount(records[parent]) : 0;
    made.setAttribute("aria-posinset", before + places[at] + 1);
    made.setAttribute("aria-setsize", before + widths[parent < 0 ? records.length : parent]);
    headerRow(made, at, record);
  } else {
    made.setAttribute("aria-posinset", part + 1);
    made.setAttribute("aria-setsize", partCount(record) + widths[at]);
    level += 1 + partRow(made, at, record, part);
  }
  made.setAttribute("aria-level", level);
  made.style.setProperty("--level", level - 1);
  return made;
}

/** The CSS class of a record's name: its kind of packet. */
function nameClass(record) {
  if (record.kind === "unknown") return "name bad";
  if (isWork(record)) return "name work";
  if (/^MI_BATCH/.test(record.name)) return "name batch";
  return isPacket(record) ? "name" : record.kind === "note" ? "note" : "name state";
}

function headerRow(made, at, record) {
  const inside = hasInside(at);
  made.classList.add("head", "k-" + (/^[a-z]+$/.test(record.kind) ? record.kind : "other"));
  made.append(element("span", "twist", inside ? (isOpen(at) ? "\u25be" : "\u25b8") : ""));
  if (inside) made.setAttribute("aria-expanded", isOpen(at));
  const wrong = record.wrong;
  let label = title(record);
  if (record.kind === "submission") {
    made.append(span("name", record.name));
    made.append(span("dim", record.about.join(" \u00b7 ")));
    label += ", " + record.about.join(", ");
  } else if (record.kind === "note") {
    made.append(span("note", record.note));
    const to = record.address ? target(at, record.address) : -1;
    if (to >= 0) made.append(link(to, "\u2192 " + title(records[to])));
    label = record.note;
  } else {
    made.append(span("address", record.kind === "register" ? hex(record.address) : "0x" + record.address.toString(16).padStart(12, "0")));
    if (isPacket(record)) made.append(span("first", record.dwords.slice(0, 8)));
    made.append(span(nameClass(record), title(record)));
    if (isPacket(record) || !["packet", "struct", "register", "kernel", "data", "row"].includes(record.kind)) made.append(element("span", "length", record.length + (record.length === 1 ? " dword" : " dwords")));
    else if (record.kind === "kernel") made.append(element("span", "length", new Set(record.lines.map(([offset]) => offset)).size + " instructions"));
    else if (record.kind === "data") made.append(element("span", "length", size(record) + " bytes"));
    if (record.note) made.append(span("note", record.note));
    if (wrong) made.append(element("span", "issue", wrong === 1 ? "1 issue" : wrong + " issues"));
    if (!isOpen(at)) made.append(span("preview", preview(record)));
    label += ", " + hex(record.address) + (record.note ? ", " + record.note : "") + (wrong ? ", " + wrong + (wrong === 1 ? " issue" : " issues") : "");
  }
  made.setAttribute("aria-label", label);
}

/** A few values for a closed record; zero and false are left out. */
function preview(record) {
  if (record.kind === "data") return record.dwords.slice(0, 64).replace(/.{8}(?=.)/g, "$& ");
  if (record.kind === "row") return cells(record);
  const said = [];
  let room = 150;
  for (const field of record.items) {
    if (field.stored === 0 || field.type === 0 || !field.name) continue;
    const text = fieldName(field) + (field.type === 3 ? "" : ": " + valueText(field));
    said.push(text);
    room -= text.length;
    if (room < 0) break;
  }
  return said.join(" \u00b7 ");
}

/** The values of a row of a table; for a vertex by element. */
function cells(record) {
  const said = [];
  for (const field of record.items) {
    const value = field.type === 1 ? String(field.value) : valueText(field).replace(/ \(\d+\)$/, "");
    if (field.type === 0) said.push(fieldName(field) + ":");
    else if (field.depth > 0 && said.length > 0) said[said.length - 1] += " " + value;
    else said.push(value);
    if (said.length > 40) break;
  }
  return said.join("  ");
}

/** Fills a row inside a record; returns how much deeper it is than the first such rows. */
function partRow(made, at, record, part) {
  const [kind, index] = partOf(record, part);
  made.classList.add(kind);
  let depth = 0;
  let label = "";
  if (kind === "picture") {
    if (index === 0) made.append(pictureOf(record.picture, PICTURE_ROWS * rowHeight - 8));
    else made.setAttribute("aria-hidden", "true");
    label = "picture";
  } else if (kind === "dwords") {
    const from = 8 * perRow * index;
    const text = record.dwords.slice(from, from + 8 * perRow);
    label = "+0x" + (4 * perRow * index).toString(16).padStart(4, "0");
    made.append(span("bits", label), span("hex", text.replace(/.{8}(?=.)/g, "$& ")));
    if (isData(record)) {
      const floats = asFloats(text);
      if (floats) made.append(element("span", "floats", floats));
    }
    label += ": " + text;
  } else if (kind === "field") {
    const field = record.items[index];
    depth = field.depth;
    const value = valueText(field);
    made.append(span("bits", bits(field)), span("fname", fieldName(field)), span("value" + (field.issue ? " wrong" : ""), value));
    if (field.issue) made.append(span("issue", field.issue));
    const to = pointer(field) >= 0 ? target(at, pointer(field)) : -1;
    if (to >= 0) made.append(link(to, "\u2192 " + title(records[to])));
    label = fieldName(field) + ": " + value + (field.issue ? ", " + field.issue : "") + (to >= 0 ? ", leads to " + title(records[to]) : "");
  } else if (kind === "line") {
    const [offset, line] = record.lines[index];
    const text = narrow ? line.replace(/\s+/g, " ").trim() : line;
    const comment = text.lastIndexOf("// ");
    // A line with the offset of the line before explains it.
    const message = index > 0 && record.lines[index - 1][0] === offset;
    made.append(span("bits", message ? "" : "+0x" + offset.toString(16).padStart(4, "0")), span(message ? "comment" : "code", comment < 0 ? text : text.slice(0, comment)));
    if (comment >= 0) made.append(span("comment", text.slice(comment)));
    label = text.replace(/\s+/g, " ");
  }
  made.setAttribute("aria-label", label);
  return depth;
}

/** Dwords as floats if all of them look like floats. */
function asFloats(text) {
  const words = text.match(/.{8}/g) ?? [];
  const view = new DataView(new ArrayBuffer(4));
  const values = words.map((word) => {
    view.setUint32(0, parseInt(word, 16));
    return view.getFloat32(0);
  });
  const like = values.every((value) => value === 0 || Math.abs(value) >= 1e-6 && Math.abs(value) < 1e9);
  return like && values.some((value) => value !== 0) ? values.map(float).join("  ") : "";
}

function pictureOf(number, height) {
  const picture = pictures[number];
  const made = element("img");
  made.src = "data:image/png;base64," + picture.base64;
  made.alt = "Surface of " + picture.width + " x " + picture.height + " texels: " + picture.note;
  made.title = made.alt;
  if (height) made.style.maxHeight = height + "px";
  // Small pictures are enlarged, with hard edges.
  if (height && Math.max(picture.width, picture.height) < 100) made.style.height = Math.min(height, 8 * picture.height) + "px";
  return made;
}

/** Draws the rows in view, and always the current one, for assistive technology. */
function draw() {
  const first = Math.max(0, Math.floor(tree.scrollTop / rowHeight) - PICTURE_ROWS);
  const last = Math.min(rowCount, Math.ceil((tree.scrollTop + tree.clientHeight) / rowHeight) + PICTURE_ROWS);
  const made = [];
  const current = rowOf(currentRecord, currentPart);
  if (current < first && rowCount > 0) made.push(rowElement(current));
  for (let row = first; row < last; row++) made.push(rowElement(row));
  if (current >= last && rowCount > 0) made.push(rowElement(current));
  rows.replaceChildren(...made);
  if (rowCount > 0) tree.setAttribute("aria-activedescendant", rowId(rowRecords[current], rowParts[current]));
}

let drawing = 0;
function drawSoon() {
  if (!drawing) drawing = requestAnimationFrame(() => {
    drawing = 0;
    draw();
  });
}

/** Measures the page, recomputes the rows and draws them. */
function refresh() {
  narrow = matchMedia("(max-width: 640px)").matches;
  perRow = narrow ? 4 : 8;
  rowHeight = parseFloat(getComputedStyle(tree).getPropertyValue("--row")) || 20;
  layOut();
  const row = rowOf(currentRecord, currentPart);
  if (rowCount > 0) {
    currentRecord = rowRecords[row];
    currentPart = rowParts[row];
  }
  rows.style.height = rowCount * rowHeight + "px";
  draw();
}

/** Scrolls so that a row is in view. */
function scrollTo(row, centred) {
  const top = row * rowHeight;
  const height = tree.clientHeight;
  if (centred && (top < tree.scrollTop || top + rowHeight > tree.scrollTop + height)) tree.scrollTop = Math.max(0, top - height / 3);
  else if (top < tree.scrollTop) tree.scrollTop = top;
  else if (top + rowHeight > tree.scrollTop + height) tree.scrollTop = top + rowHeight - height;
}

/** Makes a row the current one. */
function select(record, part) {
  const other = record !== currentRecord;
  currentRecord = record;
  currentPart = part;
  draw();
  if (other) showPanel();
}

/** Moves to a row by number. */
function selectRow(row) {
  row = Math.max(0, Math.min(rowCount - 1, row));
  scrollTo(row, false);
  select(rowRecords[row], rowParts[row]);
}

/** Shows a record or one of its parts: opens its parents and scrolls to it. */
function goTo(record, part = -1) {
  let changed = reveal(record);
  if (part >= 0 && !opened[record]) {
    opened[record] = 1;
    changed = true;
  }
  if (changed || shown !== null) refresh();
  scrollTo(rowOf(record, part), true);
  select(record, part);
}

/** The same for the row of a fragment, as a step that the browser's Back reverts. */
function follow(hash) {
  const here = "#" + rowId(currentRecord, currentPart);
  if (location.hash !== here) history.replaceState(null, "", here);
  if (location.hash === hash) toHash();
  else location.hash = hash;
}

function toggle(at, open = !opened[at]) {
  if (!hasInside(at)) return;
  opened[at] = open ? 1 : 0;
  refresh();
}

/** Opens or closes everything, as far as browsers can display it. */
function openAll(open) {
  const limit = Math.min(MOST_ROWS, Math.floor(15e6 / rowHeight));
  let total = 0;
  let cut = false;
  for (let at = 0; at < records.length; at++) {
    total += 1 + partCount(records[at]);
    cut = open && total > limit;
    if (cut) break;
    opened[at] = open || records[at].kind === "submission" ? 1 : 0;
  }
  refresh();
  say(cut ? "Only the first " + rowCount.toLocaleString("en") + " rows were opened" : rowCount.toLocaleString("en") + " rows");
}

/** The target of the current row, or -1. */
function leadsTo() {
  const record = records[currentRecord];
  if (currentPart < 0) return record.kind === "note" && record.address ? target(currentRecord, record.address) : -1;
  const [kind, index] = partOf(record, currentPart);
  const to = kind === "field" ? pointer(record.items[index]) : -1;
  return to >= 0 ? target(currentRecord, to) : -1;
}

/** Handles keys in the tree, following the tree pattern of WAI-ARIA. True if the key was handled. */
function treeKey(event) {
  const row = rowOf(currentRecord, currentPart);
  const page = Math.max(1, Math.floor(tree.clientHeight / rowHeight) - 1);
  const inside = currentPart < 0 && hasInside(currentRecord);
  /** The next row that is not a filler of a picture. */
  const step = (by) => {
    let to = row + by;
    while (to > 0 && to < rowCount - 1 && rowParts[to] >= 0) {
      const [kind, index] = partOf(records[rowRecords[to]], rowParts[to]);
      if (kind !== "picture" || index === 0) break;
      to += Math.sign(by);
    }
    selectRow(to);
  };
  switch (event.key) {
    case "ArrowDown": step(1); break;
    case "ArrowUp": step(-1); break;
    case "PageDown": step(page); break;
    case "PageUp": step(-page); break;
    case "Home": selectRow(0); break;
    case "End": selectRow(rowCount - 1); break;
    case "ArrowRight":
      if (inside && !isOpen(currentRecord)) toggle(currentRecord, true);
      else if (inside) step(1);
      break;
    case "ArrowLeft":
      if (inside && opened[currentRecord]) toggle(currentRecord, false);
      else if (currentPart >= 0) selectRow(rowOf(currentRecord, -1));
      else if (parents[currentRecord] >= 0) selectRow(rowOf(parents[currentRecord], -1));
      break;
    case "Enter": {
      const to = leadsTo();
      if (to >= 0) follow("#" + rowId(to, -1));
      else if (inside) toggle(currentRecord);
      break;
    }
    case " ":
      if (inside) toggle(currentRecord);
      break;
    case "*": {
      const parent = parents[currentRecord];
      const from = parent < 0 ? 0 : parent + 1;
      const to = parent < 0 ? records.length : ends[parent];
      for (let at = from; at < to; at = ends[at]) opened[at] = 1;
      refresh();
      break;
    }
    default: return false;
  }
  return true;
}

let saying = 0;

/** Announces a text to assistive technology, and displays it briefly unless it is visible elsewhere. */
function say(text, quietly = false) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("seen", !quietly);
  clearTimeout(saying);
  saying = setTimeout(() => status.classList.remove("seen"), 1800);
}
