// Search: every row whose name, value, address or text contains the search text.

let matchRecords = [];
let matchParts = [];
let match = -1;
/** Counts searches, so that an older one ends when a newer one starts. */
let searches = 0;

/** Searchable text, in lower case. */
function fieldLow(field) {
  return field.low ??= (fieldName(field) + ": " + valueText(field) + " " + field.issue).toLowerCase();
}

/** Addresses may be written with or without leading zeros. */
function normal(text) {
  const low = text.trim().toLowerCase();
  const number = /^0x0*([0-9a-f]+)$/.exec(low);
  return number ? "0x" + number[1] : low;
}

/** Searches in steps, so that the page stays responsive; goes to the first match from the current row on. */
async function search(text) {
  const mine = ++searches;
  const wanted = normal(text);
  sought = wanted;
  matchRecords = [];
  matchParts = [];
  match = -1;
  if (!wanted) {
    showCount();
    draw();
    return;
  }
  const inside = /^0x[0-9a-f]{3,12}$/.test(wanted) ? Number(wanted) : -1;
  const bare = /^[0-9a-f]{8}$/.test(wanted);
  const add = (at, part) => {
    matchRecords.push(at);
    matchParts.push(part);
  };
  // A field is stored once per piece and tested once, however many records have it.
  let piece = null;
  let inFields;
  let since = performance.now();
  for (let at = 0; at < records.length; at++) {
    if (at % 512 === 0 && performance.now() - since > 30) {
      showCount();
      await new Promise((resume) => setTimeout(resume));
      if (mine !== searches) return;
      since = performance.now();
    }
    if (shown !== null && shown[at] === 0) continue;
    const record = records[at];
    const head = (record.kind === "note" ? "" : hex(record.address) + " " + title(record) + " ") + record.note + (record.about ? record.about.join(" ") : "");
    const holds = inside >= 0 && inside > record.address && inside < record.address + size(record);
    if (holds || head.toLowerCase().includes(wanted) || bare && record.dwords.includes(wanted)) add(at, -1);
    if (!record.raw) continue;
    if (record.piece !== piece) {
      piece = record.piece;
      inFields = Uint8Array.from(piece.items, (_, item) => (fieldLow(piece.field(item)).includes(wanted) ? 1 : 0));
    }
    const items = record.raw[7] ?? NONE;
    for (let index = 0; index < items.length; index++) if (inFields[items[index]] === 1) add(at, partOfField(record, index));
    if (record.lineCount) record.lines.forEach((line, index) => {
      if (line[1].toLowerCase().includes(wanted)) add(at, partOfField(record, record.itemCount + index));
    });
  }
  toMatch(0);
}

function showCount() {
  const total = matchRecords.length.toLocaleString("en");
  const output = document.getElementById("count");
  output.textContent = !sought ? "" : match >= 0 ? (match + 1).toLocaleString("en") + " of " + total : matchRecords.length ? total : "no match";
}

/** Goes to a match: `by` steps from the present one; 0 for the first from the current row on. */
function toMatch(by) {
  const count = matchRecords.length;
  if (count > 0) {
    if (by === 0) {
      match = 0;
      while (match < count && (matchRecords[match] < currentRecord || matchRecords[match] === currentRecord && matchParts[match] < currentPart)) match++;
      match %= count;
    } else {
      match = (match + by + count) % count;
    }
    goTo(matchRecords[match], matchParts[match]);
  } else {
    draw();
  }
  showCount();
}

/** Goes to the next or previous record for which `wanted` holds. */
function toNext(wanted, by, what) {
  for (let at = currentRecord + by; at >= 0 && at < records.length; at += by) {
    if ((shown === null || shown[at] !== 0) && wanted(records[at])) {
      const wrong = what === "issue" ? records[at].items.findIndex((field) => field.issue) : -1;
      goTo(at, wrong >= 0 ? partOfField(records[at], wrong) : -1);
      say(title(records[at]), true);
      return;
    }
  }
  say(by > 0 ? "No " + what + " after this" : "No " + what + " before this");
}
