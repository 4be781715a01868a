// Reads the records from the data of the page, each with its position in the tree.

/** Records and starts of submissions in the order of the decoder. */
let records = [];
let pieces = [];
let pictures = [];
/** By record: its parent (or -1), the first record after its descendants, its position among its siblings, their number. */
let parents, ends, places, widths;
/** By address: the last record that begins there; by record: the one before it that begins at the same address, or -1. */
let lastAt = new Map();
let olderAt;
/** The object at the end of the page; null if the page is incomplete. */
let end = null;
/** Parts that could not be read. */
let damaged = false;

const WORK = /^(3DPRIMITIVE|GPGPU_WALKER|GPGPU_OBJECT|MEDIA_OBJECT.*|XY_(?!SETUP_BLT|SETUP_CLIP_BLT|SETUP_MONO).*|COLOR_BLT|SRC_COPY_BLT|MF[CDX]_.*_OBJECT|MFX_STITCH_OBJECT|VEB_DI_IECP)$/;
const STATE = /^(3DSTATE_|STATE_|PIPELINE_SELECT|MEDIA_(VFE_STATE|CURBE_LOAD|INTERFACE_DESCRIPTOR_LOAD)|XY_SETUP|MF[CDX]_|VEB_|MI_SET_PREDICATE)/;

/** A function of a name that is evaluated once per name. */
function byName(look) {
  const known = new Map();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) known.set(name, found = look(name));
    return found;
  };
}

const workName = byName((name) => WORK.test(name));
const stateName = byName((name) => STATE.test(name) && !WORK.test(name));

const isPacket = (record) => record.kind === "packet" || record.kind === "partial" || record.kind === "unknown";
const isWork = (record) => workName(record.name) && isPacket(record);
const isState = (record) => stateName(record.name) && isPacket(record);

/** Bits of an address that hardware uses. */
const MASK = (1n << 48n) - 1n;

/** A number of the data in comparable form: addresses have 48 bits. */
function address(value) {
  return typeof value === "string" ? Number(BigInt(value) & MASK) : value;
}

const hex = (value) => "0x" + value.toString(16);

/** Shows control characters and those that change the direction of text by number: a name must not look like another one. */
function clean(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (char) => "\\u{" + char.codePointAt(0).toString(16) + "}");
}

/** A piece of the data. Its fields are created at their first use: there are many. */
class Piece {
  constructor(data) {
    this.strings = data.strings.map(clean);
    this.items = data.items;
    this.made = new Array(data.items.length);
    /** By item: true if it has an issue. */
    this.wrong = Uint8Array.from(data.items, (item) => (item.length > 9 ? 1 : 0));
  }

  field(number) {
    return this.made[number] ??= this.make(this.items[number]);
  }

  make([depth, name, index, start, end, stored, type, value, unit = 0, issue = 0]) {
    const strings = this.strings;
    const field = {
      depth, name: strings[name], index, start, end, stored, type, value,
      unit: strings[unit], issue: strings[issue], space: "", absolute: -1, register: "", text: null, low: null,
    };
    if (type === 5) field.value = value < 0 ? null : strings[value];
    if (type === 6) {
      field.value = value[0];
      field.space = strings[value[1]];
      field.absolute = address(value[2]);
      field.register = strings[value[3]];
    }
    return field;
  }
}

const NONE = [];

/** A record of the data, decoded at its first use. */
class Stored {
  constructor(raw, piece) {
    this.raw = raw;
    this.piece = piece;
    this.kind = piece.strings[raw[0]];
    this.depth = raw[1] + 1;
    this.address = address(raw[2]);
    this.name = piece.strings[raw[3]] || this.kind;
    this.fields = null;
  }

  get index() { return this.raw[4] ?? -1; }
  get length() { return this.raw[5] ?? 0; }
  get dwords() { return this.raw[6] ?? ""; }
  get itemCount() { return this.raw[7]?.length ?? 0; }
  get items() { return this.fields ??= (this.raw[7] ?? NONE).map((item) => this.piece.field(item)); }
  get note() { return this.piece.strings[this.raw[8] ?? 0]; }
  get register() { return this.piece.strings[this.raw[9] ?? 0]; }
  get lineCount() { return (this.raw[10]?.length ?? 0) / 2; }
  get lines() {
    const list = this.raw[10] ?? NONE;
    return Array.from({ length: list.length / 2 }, (_, at) => [list[2 * at], this.piece.strings[list[2 * at + 1]]]);
  }
  get picture() { return this.raw[11] ?? -1; }

  /** Number of its problems: fields with issues, plus one if it is unknown or cut short. */
  get wrong() {
    let count = this.kind === "unknown" || this.kind !== "note" && this.note.startsWith("cut short") ? 1 : 0;
    for (const item of this.raw[7] ?? NONE) count += this.piece.wrong[item];
    return count;
  }
}

function readPiece(data) {
  const piece = new Piece(data);
  pieces.push(piece);
  for (const [base64, width, height, note] of data.pictures) pictures.push({ base64, width, height, note: clean(note) });
  for (const raw of data.records) records.push(raw[0] === -1 ? submission(raw[1]) : new Stored(raw, piece));
}

/** The start of a submission as a record, with its properties as facts. */
function submission(said) {
  const plain = (value) => (typeof value === "object" ? Object.entries(value).map(([key, inner]) => key + " " + inner).join(", ") : String(value));
  const facts = Object.entries(said).map(([key, value]) => [key, clean(plain(value))]);
  const of = (key) => clean(String(said[key] ?? ""));
  const about = [of("engine"), "context " + of("context"), (said.ring ? "ring at " : "batch at ") + of("address") + (said.global ? " (global)" : "")];
  if (said.length) about.push(said.length + " bytes");
  return {
    kind: "submission", depth: 0, address: said.address ? address(said.address) : 0, name: of("name") || "submission", index: -1,
    length: 0, dwords: "", items: NONE, itemCount: 0, note: "", register: "", lines: NONE, lineCount: 0, picture: -1, wrong: 0, facts, about, engine: of("engine"), context: of("context"),
  };
}

/** Reads everything and determines the position of each record. */
function readAll() {
  for (const element of document.querySelectorAll("script.data")) {
    try {
      readPiece(JSON.parse(element.textContent));
    } catch (error) {
      damaged = true;
    }
    element.remove();
  }
  try {
    end = JSON.parse(document.querySelector("script.end").textContent);
  } catch (error) {
    damaged = true;
  }
  const count = records.length;
  parents = new Int32Array(count).fill(-1);
  ends = new Int32Array(count).fill(count);
  places = new Int32Array(count);
  widths = new Int32Array(count + 1);
  olderAt = new Int32Array(count).fill(-1);
  const open = [];
  records.forEach((record, at) => {
    while (open.length > 0 && (record.depth === 0 || open.length > record.depth)) ends[open.pop()] = at;
    record.depth = open.length;
    const parent = open.length > 0 ? open[open.length - 1] : -1;
    parents[at] = parent;
    places[at] = widths[parent < 0 ? count : parent]++;
    open.push(at);
    if (record.address && record.kind !== "note" && record.kind !== "register" && record.kind !== "submission") {
      olderAt[at] = lastAt.get(record.address) ?? -1;
      lastAt.set(record.address, at);
    }
  });
}

/** The submission that a record belongs to. */
function rootOf(at) {
  while (parents[at] >= 0) at = parents[at];
  return at;
}

/** Records that begin at an address, from the last to the first. */
function* recordsAt(to) {
  for (let at = lastAt.get(to) ?? -1; at >= 0; at = olderAt[at]) yield at;
}

/** The target of a pointer in record `from`, or -1: the first inside it, otherwise the last before it, otherwise any. */
function target(from, to) {
  let inside = -1;
  let after = -1;
  for (const at of recordsAt(to)) {
    if (at > from) {
      after = at;
      if (at < ends[from]) inside = at;
    } else if (at < from) {
      return inside >= 0 ? inside : at;
    }
  }
  return inside >= 0 ? inside : after;
}

/** Size of a record in bytes. */
const size = (record) => record.dwords.length / 2;

/** Bits as the text output names them. */
function bits(field) {
  const dword = field.start >> 5;
  const high = field.end - 32 * dword;
  return "dw" + dword + " " + high + (field.start === field.end ? "" : ":" + (field.start & 31));
}

/** The shortest text for this float, as in the text output. */
function float(value) {
  if (typeof value === "string") return value;
  let short = value;
  if (Math.fround(value) === value) {
    for (let digits = 1; digits < 10; digits++) {
      short = Number(value.toPrecision(digits));
      if (Math.fround(short) === value) break;
    }
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return short.toExponential().replace("e+", "e");
  const text = Object.is(short, -0) ? "-0" : String(short);
  return Number.isInteger(short) ? text + ".0" : text;
}

const fieldName = (field) => field.name + (field.index >= 0 ? "[" + field.index + "]" : "");

/** The value of a field as in the text output. */
function valueText(field) {
  if (field.text !== null) return field.text;
  let text = "";
  let unit = field.unit.split(";")[0];
  const stored = typeof field.stored === "string" ? field.stored : hex(field.stored);
  switch (field.type) {
    case 0: return field.text = "";
    case 1:
      if (unit.startsWith("one bit")) {
        unit = "";
        text = typeof field.value === "string" ? field.value : hex(field.value);
      } else {
        text = String(field.value);
        if (!field.unit && field.value > 9) text += " (" + hex(field.value) + ")";
      }
      break;
    case 4: text = float(field.value); break;
    case 5:
      unit = "";
      text = field.value === null ? String(field.stored) : field.value + " (" + field.stored + ")";
      break;
    case 6:
      unit = "";
      text = typeof field.value === "string" ? field.value : hex(field.value);
      if (field.space === "mmio") text += field.register ? " (" + field.register + ")" : "";
      else if (field.space !== "graphics") {
        text += " (" + field.space + ")";
        if (field.absolute >= 0) text += " = " + hex(field.absolute);
      }
      break;
    case 7: case 8: text = stored; break;
    default: text = String(field.value);
  }
  if (unit) text += /^(log2|\d)/.test(unit) ? " (" + unit + ")" : " " + unit;
  return field.text = text;
}

/** The target of a field: a GPU address, or -1. */
function pointer(field) {
  return field.type === 6 && field.space !== "mmio" && field.absolute > 0 ? field.absolute : -1;
}

const title = (record) => (record.kind === "note" && record.note) || (record.register || record.name) + (record.index >= 0 ? "[" + record.index + "]" : "");
