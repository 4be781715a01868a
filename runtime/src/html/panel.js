// Details of the current record: its address, what points to it, and the state if it is a draw.

let panel;

const panelOpen = () => !panel.hidden;

function showPanel() {
  if (panel.hidden || records.length === 0) return;
  const at = currentRecord;
  const record = records[at];
  const made = [];
  made.push(element("h2", "", title(record)));
  const where = element("p", "dim where");
  for (let outer = parents[at], path = []; ; outer = parents[outer]) {
    if (outer < 0) {
      path.reverse().forEach((holder, place) => where.append(place ? " \u203a " : "in ", link(holder, title(records[holder]), true)));
      break;
    }
    path.push(outer);
  }
  const facts = element("dl", "facts");
  const fact = (key, value) => value && facts.append(element("dt", "", key), element("dd", "", value));
  if (record.facts) for (const [key, value] of record.facts) fact(key, value);
  else {
    fact("kind", record.kind);
    if (record.address) fact(record.kind === "register" ? "offset" : "address", hex(record.address) + (size(record) > 4 ? " to " + hex(record.address + size(record) - 1) : ""));
    if (record.length) fact("length", record.length + " dwords, " + 4 * record.length + " bytes");
    if (record.kind !== "note") fact("remark", record.note);
    if (isWork(record)) fact("order", workOrder(at));
  }
  made.push(facts);
  if (parents[at] >= 0) made.push(where);
  if (record.picture >= 0) {
    const figure = element("figure");
    figure.append(pictureOf(record.picture, 0), element("figcaption", "dim", pictures[record.picture].width + " x " + pictures[record.picture].height + ", " + pictures[record.picture].note));
    made.push(figure);
  }
  if (isWork(record)) made.push(...stateOf(at));
  const wrong = record.items.filter((field) => field.issue);
  if (wrong.length) made.push(...listed("Issues", wrong.map((field) => {
    const item = element("li", "");
    item.append(element("span", "issue", fieldName(field) + ": " + valueText(field)), " " + field.issue);
    return item;
  })));
  if (record.kind === "kernel") made.push(...listed("Messages", messages(record)));
  made.push(...listed("Points to", pointsTo(at)));
  made.push(...listed("Pointed to by", pointedToBy(at)));
  if (record.items.length) made.push(...fieldTable(record));
  if (record.dwords.length > 8 && record.kind !== "kernel") {
    const words = record.dwords.slice(0, 8 * 4 * 64).match(/.{1,32}/g) ?? [];
    const text = words.map((line, row) => "+0x" + (16 * row).toString(16).padStart(3, "0") + " " + line.replace(/.{8}(?=.)/g, "$& ")).join("\n");
    const dump = element("pre", "", text + (record.dwords.length > 2048 ? "\n..." : ""));
    made.push(element("h3", "", "Dwords"), dump);
  }
  panel.replaceChildren(...made);
  panel.scrollTop = 0;
}

function listed(heading, items) {
  if (items.length === 0) return [];
  const list = element("ul");
  list.append(...items.slice(0, 200));
  if (items.length > 200) list.append(element("li", "dim", "and " + (items.length - 200) + " more"));
  return [element("h3", "", heading), list];
}

/** The sends of a kernel, with their messages. */
function messages(record) {
  const lines = record.lines;
  const sends = lines.map(([offset, text], index) => [offset, text, index])
    .filter(([offset, text, index]) => /\bsends?c?\b/.test(text.split("//")[0]) && lines[index - 1]?.[0] !== offset);
  return sends.map(([offset, text, index]) => {
    // Lines after it with the same offset describe the message; otherwise its comment does.
    const more = lines.slice(index + 1).findIndex(([other]) => other !== offset);
    const said = lines.slice(index + 1, more < 0 ? lines.length : index + 1 + more).map(([, text]) => text.trim()).join("; ");
    const comment = text.lastIndexOf("// ");
    const item = element("li");
    const to = element("a", "link", "+0x" + offset.toString(16).padStart(4, "0"));
    to.href = "#" + rowId(currentRecord, partOfField(record, record.itemCount + index));
    item.append(to, " " + (said ? said : comment < 0 ? text.replace(/\s+/g, " ").trim() : text.slice(comment + 3)));
    return item;
  });
}

function fieldTable(record) {
  const table = element("table", "fields");
  for (const field of record.items.slice(0, 1000)) {
    const line = element("tr");
    const name = element("th", "", fieldName(field));
    name.scope = "row";
    name.style.setProperty("--depth", field.depth);
    line.append(element("td", "bits", bits(field)), name, element("td", field.issue ? "wrong" : "", valueText(field) + (field.issue ? " (" + field.issue + ")" : "")));
    table.append(line);
  }
  return [element("h3", "", "Fields"), table];
}

/** A line with a link to a record. */
function entry(to, before, after) {
  const item = element("li");
  if (before) item.append(before + " ");
  item.append(link(to, title(records[to]), true), element("span", "dim", " " + hex(records[to].address) + (after ? " " + after.trim() : "")));
  return item;
}

function pointsTo(at) {
  const made = [];
  for (const field of records[at].items) {
    const to = pointer(field);
    if (to < 0) continue;
    const found = target(at, to);
    if (found >= 0) made.push(entry(found, fieldName(field) + ":"));
    else {
      const item = element("li", "dim", fieldName(field) + ": " + hex(to) + " (not decoded)");
      made.push(item);
    }
  }
  return made;
}

/** True if an item of the data points to an address. */
const pointsAt = (item, to) => item[6] === 6 && address(item[7][2]) === to;

/** Records with a field that points to this one. */
function pointedToBy(at) {
  const to = records[at].address;
  if (![...recordsAt(to)].includes(at)) return [];
  const naming = new Map(pieces.map((piece) => [piece, new Set(piece.items.flatMap((item, place) => (pointsAt(item, to) ? [place] : [])))]));
  const made = [];
  records.forEach((record, from) => {
    const names = naming.get(record.piece);
    if (from === at || !names?.size) return;
    record.raw[7]?.forEach((item, place) => {
      if (names.has(item) && target(from, to) === at) made.push(entry(from, "", fieldName(record.items[place])));
    });
  });
  return made;
}

/** Submissions of the same context, up to this record, newest record first. */
function* before(at) {
  const root = rootOf(at);
  const { context, engine } = records[root];
  for (let end = at, from = root; from >= 0;) {
    for (let old = end - 1; old > from; old--) yield old;
    end = from;
    do from = from > 0 ? rootOf(from - 1) : -1;
    while (from >= 0 && (records[from].context !== context || records[from].engine !== engine) && (end = from) >= 0);
  }
}

function workOrder(at) {
  let before = 0;
  let all = 0;
  const root = rootOf(at);
  for (let other = root; other < ends[root]; other++) {
    if (!isWork(records[other])) continue;
    all++;
    if (other <= at) before++;
  }
  return before + " of " + all + " in this submission";
}

/** State that does not affect this kind of work. */
function unrelated(work) {
  if (/^3D/.test(work)) return /^(MEDIA_|MF|VEB|XY_)/;
  if (/^(GPGPU|MEDIA)/.test(work)) return /^(3D|MF|VEB|XY_)/;
  if (/^(XY_|COLOR|SRC)/.test(work)) return /^(?!XY_SETUP)/;
  return /^(3D|MEDIA_|XY_|PIPELINE)/;
}

/** For state in several parts: the field that selects the part of a packet. */
const SELECTORS = {
  "3DSTATE_VF_INSTANCING": "Vertex Element Index", "3DSTATE_SO_BUFFER": "SO Buffer Index",
  MFX_QM_STATE: "AVC", MFX_FQM_STATE: "AVC", MFX_JPEG_HUFF_TABLE_STATE: "Huffman Table ID", MFX_AVC_REF_IDX_STATE: "Reference Picture List Select",
};

/** The state that a record sets. */
function stateKey(record) {
  const selector = SELECTORS[record.name];
  const field = selector && record.items.find((field) => field.name === selector);
  return field ? title(record) + " (" + selector + ": " + valueText(field) + ")" : title(record);
}

/** The last packet of each kind of state before a draw, and the differences to the previous draw. */
function stateOf(at) {
  const skip = unrelated(records[at].name);
  const newest = new Map();
  const older = new Map();
  let last = -1;
  for (const old of before(at)) {
    const record = records[old];
    if (last < 0 && isWork(record) && !skip.test(record.name)) last = old;
    const register = record.kind === "register";
    if (!register && (!isState(record) || skip.test(record.name))) continue;
    const key = stateKey(record);
    if (!newest.has(key)) newest.set(key, old);
    if (last >= 0 && !older.has(key)) older.set(key, old);
  }
  if (newest.size === 0) return [element("h3", "", "State"), element("p", "dim", "No state packet comes before it.")];
  const isSame = (key) => last < 0 || newest.get(key) === older.get(key) || older.has(key) && records[older.get(key)].dwords === records[newest.get(key)].dwords;
  // Differences come first.
  const sorted = [...newest.keys()].sort((a, b) => isSame(a) - isSame(b) || (a < b ? -1 : 1));
  const items = sorted.map((key) => {
    const now = newest.get(key);
    const then = older.get(key);
    const item = entry(now, "", key.slice(title(records[now]).length));
    if (last < 0 || now === then) return item;
    const same = isSame(key);
    item.append(" ", element("span", same ? "same" : "changed", then === undefined ? "new" : same ? "set again" : "changed"));
    if (!same && then !== undefined) item.append(difference(records[then], records[now]));
    return item;
  });
  const heading = element("h3", "", "State at this " + (/^3D/.test(records[at].name) ? "draw" : /^(GPGPU|MEDIA)/.test(records[at].name) ? "dispatch" : "operation"));
  const intro = element("p", "dim");
  if (last >= 0) intro.append("Marked where it differs from ", link(last, title(records[last]) + " " + hex(records[last].address), true), ".");
  else intro.append("The first of its context: nothing to compare with.");
  const list = element("ul", "states");
  list.append(...items);
  return [heading, intro, list];
}

/** Fields that differ between two records of a kind. */
function difference(then, now) {
  const list = element("ul");
  const key = (field) => field.start + "-" + field.end + " " + fieldName(field);
  const old = new Map(then.items.map((field) => [key(field), field]));
  let count = 0;
  for (const field of now.items) {
    const before = old.get(key(field));
    if (field.type === 0 || before && valueText(before) === valueText(field)) continue;
    if (++count <= 8) list.append(element("li", "", fieldName(field) + ": " + (before ? valueText(before) + " \u2192 " : "") + valueText(field)));
  }
  if (count > 8) list.append(element("li", "dim", "and " + (count - 8) + " more"));
  return list;
}
