// The visible rows: a record's header, and if it is open its dwords, fields, instructions and picture.

/** By row: the record, and which of its rows (-1 for the header). */
let rowRecords = new Int32Array(0);
let rowParts = new Int32Array(0);
let rowCount = 0;
/** By record: open or not. */
let opened;
/** By record: 0 hidden, 1 visible because of something inside, 2 visible; null if everything is visible. */
let shown = null;
/** Dwords in a row. */
let perRow = 8;
/** Number of rows of a picture. */
const PICTURE_ROWS = 10;
/** Largest number of rows opened at once: browsers limit the height of an element. */
const MOST_ROWS = 600000;

const isData = (record) => record.kind === "data";

/** Number of rows of dwords. A single dword has none: the header shows it. */
function dwordRows(record) {
  const count = record.dwords.length / 8;
  return count > 1 && record.kind !== "kernel" ? Math.ceil(count / perRow) : 0;
}

/** Number of rows of an open record without those of what it points to. */
function partCount(record) {
  return (record.picture >= 0 ? PICTURE_ROWS : 0) + dwordRows(record) + record.itemCount + record.lineCount;
}

/** The kind of part `part` of a record: `[kind, index]`. */
function partOf(record, part) {
  for (const [kind, count] of [
    ["picture", record.picture >= 0 ? PICTURE_ROWS : 0],
    ["dwords", dwordRows(record)],
    ["field", record.itemCount],
    ["line", record.lineCount],
  ]) {
    if (part < count) return [kind, part];
    part -= count;
  }
  return ["none", 0];
}

/** The part that shows field or instruction `index`. */
function partOfField(record, index) {
  return (record.picture >= 0 ? PICTURE_ROWS : 0) + dwordRows(record) + index;
}

const hasInside = (at) => ends[at] > at + 1 || partCount(records[at]) > 0;

/** True if a record is displayed open: it is open, or visible because of something inside. */
const isOpen = (at) => opened[at] === 1 || shown !== null && shown[at] === 1;

/** Recomputes the rows. */
function layOut() {
  let room = Math.max(4096, rowRecords.length);
  let intoRecords = new Int32Array(room);
  let intoParts = new Int32Array(room);
  let count = 0;
  const grow = (need) => {
    if (count + need < room) return;
    room = 2 * (count + need);
    const wider = (from) => {
      const to = new Int32Array(room);
      to.set(from);
      return to;
    };
    intoRecords = wider(intoRecords);
    intoParts = wider(intoParts);
  };
  for (let at = 0; at < records.length;) {
    if (shown !== null && shown[at] === 0) {
      at = ends[at];
      continue;
    }
    grow(1);
    intoRecords[count] = at;
    intoParts[count++] = -1;
    if (!isOpen(at)) {
      at = ends[at];
      continue;
    }
    if (opened[at] === 1) {
      const parts = partCount(records[at]);
      grow(parts);
      for (let part = 0; part < parts; part++) {
        intoRecords[count] = at;
        intoParts[count++] = part;
      }
    }
    at++;
  }
  rowRecords = intoRecords;
  rowParts = intoParts;
  rowCount = count;
}

/** The row of a part of a record, or the last one before it. */
function rowOf(record, part) {
  let low = 0;
  let high = rowCount - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const later = rowRecords[middle] > record || rowRecords[middle] === record && rowParts[middle] > part;
    if (later) high = middle - 1;
    else low = middle;
  }
  return low;
}

/** Opens the parents of a record, so that its row is visible. */
function reveal(at) {
  let changed = false;
  if (shown !== null && shown[at] === 0) {
    setFilter("");
    changed = true;
  }
  for (let outer = parents[at]; outer >= 0; outer = parents[outer]) {
    if (!isOpen(outer)) {
      opened[outer] = 1;
      changed = true;
    }
  }
  return changed;
}

/** Sets what is visible: "" everything, "@..." a group, otherwise packets of a name. */
function setFilter(choice) {
  const select = document.getElementById("filter");
  if (select.value !== choice) select.value = choice;
  if (choice === "") {
    shown = null;
    return;
  }
  const wanted = {
    "@work": isWork,
    "@state": isState,
    "@issues": (record) => record.wrong > 0,
    "@unknown": (record) => record.kind === "unknown" || record.kind === "partial",
    "@kernels": (record) => record.kind === "kernel",
    "@surfaces": (record) => record.name === "RENDER_SURFACE_STATE",
    "@pictures": (record) => record.picture >= 0,
    "@notes": (record) => record.note !== "",
  }[choice] ?? ((record) => record.name === choice);
  shown = new Uint8Array(records.length);
  let inside = 0;
  for (let at = 0; at < records.length; at++) {
    if (at < inside) {
      shown[at] = 2;
    } else if (records[at].kind !== "submission" && wanted(records[at])) {
      shown[at] = 2;
      inside = ends[at];
      for (let outer = parents[at]; outer >= 0 && shown[outer] === 0; outer = parents[outer]) shown[outer] = 1;
    }
  }
}
