"use strict";
// The page of `genx inspect`. All data comes from the server below `api/`.

const $ = (id) => document.getElementById(id);
const ROW = 57;

/** All steps so far, in order. */
let steps = [];
/** Indices of the steps that the filter shows. */
let shown = [];
/** Index of the selected step. */
let current = -1;
/** Answers of `api/look` by step. */
const looks = new Map();
let progress = {};
let findings = { rules: null, sanitize: null };
/** Findings of rules and sanitizers by index of the step. */
let found = new Map();
let matches = [];
let when = "after";
let zoom = 0;
let tab = "targets";
/** The pixel under the cursor. */
let cursor = null;
/** Counts selections, so that late answers are dropped. */
let turn = 0;

function element(tag, name = "", text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== "") made.textContent = text;
  return made;
}

async function ask(path) {
  const answer = await fetch("api/" + path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

const counted = (number) => Number(number).toLocaleString("en");
const plural = (count, word) => counted(count) + " " + word + (count === 1 ? "" : word.endsWith("ch") ? "es" : "s");

// ---- Progress and the list

async function poll() {
  try {
    progress = await ask("progress");
    while (steps.length < progress.steps) {
      const more = await ask("steps?from=" + steps.length);
      if (more.steps.length === 0) break;
      steps.push(...more.steps);
    }
    showProgress();
    filterSteps();
    if (current < 0 && steps.length > 0) {
      const wanted = /^#step=(\d+)$/.exec(location.hash);
      if (wanted) { if (Number(wanted[1]) <= steps.length) select(Number(wanted[1]) - 1); else if (progress.listed) select(0); }
      else select(0);
    }
    const complete = progress.phase === null;
    if (progress.rules && (!findings.rules || complete)) {
      findings = await ask("findings");
      placeFindings();
    }
    if (complete) { document.documentElement.dataset.ready = "all"; return; }
    if (progress.listed) document.documentElement.dataset.ready ??= "list";
    setTimeout(poll, 250);
  } catch (error) {
    $("brief").textContent = "genx inspect has ended: " + error.message;
    $("progress").hidden = true;
  }
}

function showProgress() {
  $("input").textContent = progress.input;
  document.title = progress.input.split("/").filter(Boolean).pop() + " - genx inspect";
  const bar = $("progress");
  bar.hidden = progress.phase === null;
  if (progress.total) { bar.max = progress.total; bar.value = progress.listed ? progress.total : progress.submissions; }
  else bar.removeAttribute("value");
  const of = progress.total ? " of " + counted(progress.total) : "";
  $("brief").textContent = (progress.phase ? progress.phase + ": " : "") + counted(progress.submissions) + of + " submissions, " + plural(progress.steps, "step");
  $("fault").hidden = !progress.fault;
  if (progress.fault) $("fault").textContent = "The run stopped: " + progress.fault.text;
}

function filterSteps() {
  const wanted = $("filter").value;
  shown = [];
  steps.forEach((step, index) => {
    if (wanted === "" || step.kind === wanted || (wanted === "finding" && (found.has(index) || !step.complete))) shown.push(index);
  });
  drawRows();
}

/** Only the visible rows exist. */
function drawRows() {
  const list = $("steps"), rows = $("rows");
  rows.style.height = shown.length * ROW + "px";
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
  const most = { instructions: 1, pixels: 1 };
  for (const step of steps) for (const key in most) most[key] = Math.max(most[key], step[key]);
  const made = [];
  for (let at = first; at < last; at++) made.push(rowOf(shown[at], at, most));
  rows.replaceChildren(...made);
  if (current >= 0) list.setAttribute("aria-activedescendant", "s" + (current + 1));
}

function rowOf(index, at, most) {
  const step = steps[index];
  const row = element("div", "step" + (index === current ? " current" : "") + (matches.includes(index) ? " match" : ""));
  row.id = "s" + step.number;
  row.style.top = at * ROW + "px";
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", index === current);
  row.dataset.index = index;
  const thumb = element("span", "thumb");
  if (step.thumbnail) {
    const image = element("img");
    image.src = "api/thumbnail/" + step.number;
    image.alt = "";
    image.loading = "lazy";
    thumb.append(image);
  } else thumb.textContent = step.kind;
  const name = element("span", "name", step.draw ? "draw " + step.draw : step.packet);
  name.append(element("span", "dim", "  submission " + step.submission + (step.exec === null ? "" : " (exec " + step.exec + ")")));
  const cost = element("span", "cost");
  const bars = element("span", "bars");
  for (const key of ["instructions", "pixels"]) {
    const bar = element("i");
    bar.style.width = (100 * step[key]) / most[key] + "%";
    bars.append(bar);
  }
  cost.append(bars, element("span", "", counted(step.instructions) + " instr, " + counted(step.pixels) + " px"));
  const list = found.get(index);
  if (list) cost.append(element("span", "issue", plural(list.length, "finding")));
  if (!step.complete) cost.append(element("span", "issue", "did not complete"));
  row.append(thumb, name, element("span", "title", step.title), cost);
  return row;
}

// ---- Selection

function select(index) {
  if (index < 0 || index >= steps.length) return;
  current = index;
  turn += 1;
  history.replaceState(null, "", "#step=" + steps[index].number);
  const at = shown.indexOf(index), list = $("steps");
  if (at >= 0) {
    if (at * ROW < list.scrollTop) list.scrollTop = at * ROW;
    if ((at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * ROW - list.clientHeight;
  }
  drawRows();
  cursor = null;
  $("cross").hidden = true;
  $("history").hidden = true;
  $("value").textContent = "";
  showState(turn);
  showLook(turn);
}

function move(by) {
  const at = shown.indexOf(current);
  const next = shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
  if (next !== undefined) select(next);
}

// ---- State

async function showState(mine) {
  const panel = $("panel"), step = steps[current];
  let state;
  try { state = await ask("state/" + step.number); } catch (error) { panel.replaceChildren(element("p", "bad", error.message)); return; }
  if (mine !== turn) return;
  const made = [element("h2", "", step.draw ? "draw " + step.draw : step.packet), element("pre", "", state.text ?? state.title + "\nat " + step.address)];
  const list = (packets, title) => {
    if (packets.length === 0) return;
    made.push(element("h3", "", title));
    for (const packet of packets) made.push(packetOf(packet));
  };
  list(state.packets.filter((packet) => packet.changed), "Changed since the previous step");
  list(state.packets.filter((packet) => !packet.changed), "Unchanged");
  panel.replaceChildren(...made);
  panel.dataset.step = step.number;
}

function packetOf(packet) {
  const details = element("details");
  details.open = packet.changed && !packet.new;
  const summary = element("summary", "", packet.name + " ");
  const differing = packet.fields.filter((field) => field.old !== null).length;
  if (packet.changed) summary.append(element("span", "changed", packet.new ? "new" : plural(differing, "field")));
  const table = element("table", "fields");
  for (const field of packet.fields) {
    const row = element("tr", field.old !== null ? "differs" : "");
    const value = element("td");
    if (field.old !== null) value.append(element("del", "", field.old), " \u2192 ");
    value.append(field.value);
    row.append(element("th", "", field.path), element("td", "bits", field.bits), value);
    table.append(row);
  }
  details.append(summary, table);
  return details;
}

// ---- Targets

async function showLook(mine) {
  const step = steps[current];
  showFindings();
  for (const button of document.querySelectorAll("#whens button")) button.hidden = isMap(button.dataset.when) && !step.draw;
  $("mesh-text").textContent = step.draw ? "" : "This step is a " + step.kind + "; meshes exist for draws.";
  for (const id of ["mesh-in", "mesh-out"]) plot($(id), [], () => {});
  let look = looks.get(step.number);
  if (!look) {
    showBuffer();
    $("target").replaceChildren();
    $("shaders").replaceChildren();
    noPicture("running up to " + (step.draw ? "draw " + step.draw : "step " + step.number) + " ...");
    try { look = await ask("look/" + step.number); } catch (error) { if (mine === turn) noPicture(error.message); return; }
    looks.set(step.number, look);
  }
  if (mine !== turn) return;
  const select = $("target"), before = select.value;
  const size = (target) => target.format + " " + target.width + "x" + target.height + " at " + target.address;
  select.replaceChildren(
    ...look.targets.map((target, index) => new Option(
      (target.meaning === "color" ? "binding " + target.binding : target.meaning) + ": " + size(target) + ", " + plural(target.changed, "value") + " changed", index)),
    ...look.buffers.map((buffer, index) => new Option(
      (buffer.binding === null ? "memory" : "binding " + buffer.binding + ": " + buffer.kind) + " at " + (buffer.address ?? buffer.extent[0]) + ", " + counted(buffer.written) + " bytes written, " + counted(buffer.changed) + " changed", "buffer " + index)));
  if ([...select.options].some((option) => option.value === before)) select.value = before;
  showPicture();
  if (tab === "mesh") showMesh();
  if (step.kind !== "dispatch") return showShaders(look);
  try { const kernel = await ask("kernel/" + step.number); if (mine === turn) showShaders({ kernels: [kernel] }); }
  catch (error) { if (mine === turn) $("shaders").replaceChildren(element("p", "dim", error.message)); }
}

const lookNow = () => (current >= 0 ? looks.get(steps[current].number) : undefined);
const isMap = (when) => when === "overdraw" || when === "cost";
const nameNow = () => (steps[current].draw ? "draw " + steps[current].draw : "step " + steps[current].number);

function noPicture(text) {
  $("picture").hidden = true;
  $("cross").hidden = true;
  $("no-picture").textContent = text;
  $("no-picture").hidden = text === "";
}

function showPicture() {
  for (const button of document.querySelectorAll("#whens button")) {
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", button.dataset.when === when);
  }
  const look = lookNow();
  if (!look) return;
  const step = steps[current], target = look.targets[$("target").value];
  const buffer = look.buffers[/^buffer (\d+)$/.exec($("target").value)?.[1]];
  showBuffer(buffer);
  if (buffer) return;
  const map = isMap(when) && step.draw, shown = isMap(when) && !map ? "after" : when;
  const failed = "The step did not complete: " + (progress.fault ? progress.fault.text : "the next packet was not reached") + ".";
  if (!target) return noPicture((look.complete ? "" : failed + " ") + (look.note ?? "The step has no target with a picture."));
  if (map && !look.heat) return noPicture("There are no heat maps of draws of a G45.");
  if (map && look.heat.fragments === 0) return noPicture("The draw shaded no pixel.");
  if (shown !== "before" && !look.complete && !map) return noPicture(failed + " The picture before it exists.");
  const image = $("picture");
  image.onload = () => { noPicture(""); image.hidden = false; sizePicture(); document.documentElement.dataset.picture = image.getAttribute("src"); };
  image.onerror = () => noPicture("The target has no picture.");
  image.src = "api/" + (map ? "heat/" + step.number + "/" + when : "image/" + step.number + "/" + $("target").value + "/" + shown);
  image.alt = shown + " of " + nameNow();
  if (!cursor) $("value").textContent = look.note ?? "";
  if (map) $("value").textContent = when === "overdraw"
    ? counted(look.heat.fragments) + " pixels shaded; at most " + look.heat.most + " times the same one (red)"
    : "at most " + counted(look.heat.most_cost) + " instructions for one pixel (red)";
}

/** Shows a table of the bytes of a buffer that changed. Without a buffer, hides the table. */
function showBuffer(buffer) {
  const box = $("buffer");
  box.hidden = !buffer;
  $("view").hidden = $("whens").hidden = $("zooms").hidden = Boolean(buffer);
  if (!buffer) return box.replaceChildren();
  $("cross").hidden = true;
  $("value").textContent = lookNow().note ?? "";
  const list = element("table", "runs"), head = element("tr");
  for (const name of ["address", "bytes", "", "first bytes"]) head.append(element("th", "", name));
  list.append(head);
  const bytes = (text, run) => text.match(/../g).join(" ") + (run.bytes > text.length / 2 ? " ..." : "");
  for (const run of buffer.runs) {
    const row = element("tr");
    row.append(element("td", "", run.address), element("td", "number", counted(run.bytes)), element("td", "dim", "before\nafter"), element("td", "", bytes(run.before, run) + "\n" + bytes(run.after, run)));
    list.append(row);
  }
  const text = counted(buffer.written) + " bytes written from " + buffer.extent[0] + " to " + buffer.extent[1] + "; " + counted(buffer.changed) + " bytes changed, in " + plural(buffer.count, "run")
    + (buffer.runs.length < buffer.count ? ", of which the first " + counted(buffer.runs.length) + " are listed" : "")
    + (buffer.cut ? ". Only the first part of the memory is compared" : "") + ".";
  box.replaceChildren(element("p", "dim", text), buffer.count ? list : element("p", "dim", "All bytes have the values that they had before."));
  document.documentElement.dataset.buffer = steps[current].number + "/" + $("target").value;
}

/** The scale of the picture. */
function scale() {
  const image = $("picture"), view = $("view");
  if (zoom > 0) return zoom;
  return Math.min(Math.max(view.clientWidth - 2, 16) / image.naturalWidth, Math.max(view.clientHeight - 2, 16) / image.naturalHeight);
}

function sizePicture() {
  const image = $("picture");
  if (image.hidden || !image.naturalWidth) return;
  image.style.width = image.naturalWidth * scale() + "px";
  $("zoom").textContent = zoom > 0 ? zoom + "x" : "fit";
  showCross();
}

function setZoom(by) {
  const now = scale();
  const steps = [0.125, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
  zoom = by === 0 ? 0 : by > 0 ? steps.find((step) => step > now * 1.01) ?? 32 : steps.findLast((step) => step < now * 0.99) ?? 0.125;
  const view = $("view"), image = $("picture");
  sizePicture();
  if (cursor && zoom > 0) {
    const at = image.naturalWidth ? scale() : 1;
    view.scrollTo(cursor[0] * at - view.clientWidth / 2, cursor[1] * at - view.clientHeight / 2);
  }
}

/** Pixels of the target in a pixel of the picture: large targets have every n-th pixel. */
function stride() {
  const target = lookNow()?.targets[$("target").value];
  return target ? Math.max(1, Math.ceil(Math.max(target.width, target.height) / 4096)) : 1;
}

function showCross() {
  const cross = $("cross");
  cross.hidden = !cursor || $("picture").hidden;
  if (cross.hidden) return;
  const at = scale() / stride(), size = Math.max(at, 3);
  Object.assign(cross.style, { left: cursor[0] * at + "px", top: cursor[1] * at + "px", width: size + "px", height: size + "px" });
}

function pixelAt(event) {
  const box = $("picture").getBoundingClientRect(), target = lookNow()?.targets[$("target").value];
  if (!target || $("picture").hidden) return null;
  const at = scale() / stride();
  const x = Math.floor((event.clientX - box.left) / at), y = Math.floor((event.clientY - box.top) / at);
  return x >= 0 && y >= 0 && x < target.width && y < target.height ? [x, y] : null;
}

let asking = false;
async function showValue() {
  if (!cursor || asking) return;
  asking = true;
  const mine = turn, [x, y] = cursor, number = steps[current].number;
  const target = $("target").value, origin = lookNow()?.targets[target]?.origin ?? [0, 0];
  try {
    const value = await ask(["value", number, target, x, y].join("/"));
    if (mine === turn) {
      const side = (side) => "0x" + side.bytes.match(/../g).reverse().join("") + "  (" + side.channels.join(", ") + ")";
      const same = value.before.bytes === value.after.bytes;
      const [left, top] = origin;
      $("value").textContent = "pixel " + (left + x) + "," + (top + y) + "\n" + (same ? side(value.after) + "  unchanged" : side(value.before) + "  \u2192  " + side(value.after))
        + (value.heat ? "\nshaded " + value.heat.shaded + " times, " + Number(value.heat.instructions.toFixed(2)) + " instructions" : "");
      $("value").dataset.pixel = x + "," + y;
    }
  } catch (error) { if (mine === turn) $("value").textContent = error.message; }
  asking = false;
  if (mine === turn && cursor && (cursor[0] !== x || cursor[1] !== y)) showValue();
}

function setCursor(pixel) {
  cursor = pixel;
  showCross();
  showValue();
}

// ---- History of a pixel

async function showHistory() {
  if (!cursor || !lookNow()) return;
  const mine = turn, [x, y] = cursor, box = $("history");
  box.hidden = false;
  box.replaceChildren(element("p", "dim", "two runs for the history of pixel " + x + "," + y + " ..."));
  let answer;
  try { answer = await ask(["history", steps[current].number, $("target").value, x, y].join("/")); }
  catch (error) { if (mine === turn) box.replaceChildren(element("p", "bad", error.message)); return; }
  if (mine !== turn) return;
  const title = element("h3", "", "History of pixel " + x + "," + y);
  const close = element("button", "", "close");
  close.type = "button";
  close.addEventListener("click", () => { box.hidden = true; });
  title.append(close);
  const list = element("ol");
  for (const entry of answer.entries) {
    const item = element("li");
    const where = entry.draw ? "draw " + entry.draw.draw : entry.kind + (entry.packet ? " by " + entry.packet : "");
    item.append(where + ", submission " + entry.submission + ": ", ...pixelOf(entry.old), " \u2192 ", ...pixelOf(entry.new));
    if (entry.draw) {
      const inner = element("ol");
      for (const fragment of entry.draw.fragments) {
        const line = element("li", fragment.lost ? "lost" : "");
        const depth = fragment.coverage ? ", depth " + fragment.coverage.depth : "";
        const shader = fragment.shader ? ", " + counted(fragment.shader.instructions) + " instructions" : "";
        line.append("primitive " + fragment.primitive + depth + shader + ": " + (fragment.lost ? "lost by " + fragment.lost : "written"), fragment.lost ? "" : " ", ...(fragment.lost ? [] : pixelOf(fragment.new)));
        inner.append(line);
      }
      item.append(inner);
      const number = steps.findIndex((step) => step.draw === entry.draw.draw);
      if (number >= 0 && number !== current) {
        const go = element("button", "", "go to draw " + entry.draw.draw);
        go.type = "button";
        go.addEventListener("click", () => select(number));
        item.append(go);
      }
    }
    list.append(item);
  }
  box.replaceChildren(title, answer.entries.length ? list : element("p", "dim", "Nothing touched the pixel."));
  box.dataset.pixel = x + "," + y;
}

function pixelOf(value) {
  if (!value) return ["nothing"];
  const numbers = value.color ?? value.integers ?? (value.depth !== undefined ? [value.depth] : [value.stencil]);
  const text = "(" + numbers.map((number) => (typeof number === "number" ? Number(number.toPrecision(5)) : number)).join(", ") + ")";
  if (!value.color) return [text];
  const swatch = element("span", "swatch");
  const byte = (number) => Math.round(255 * Math.min(Math.max(Number(number) || 0, 0), 1));
  swatch.style.backgroundColor = "rgb(" + value.color.slice(0, 3).map(byte).join(" ") + ")";
  return [swatch, text];
}

// ---- Mesh

/** The turn of the received vertices about the y and the x axis. */
const meshAngles = [0.5, 0.35];
let turnMesh = () => {};

async function showMesh() {
  const look = lookNow();
  if (!look || !steps[current].draw) return;
  const mine = turn;
  let mesh;
  try { mesh = await ask("mesh/" + steps[current].number); } catch (error) { $("mesh-text").textContent = error.message; return; }
  if (mine !== turn) return;
  const fates = {};
  for (const primitive of mesh.primitives) fates[primitive.fate] = (fates[primitive.fate] ?? 0) + 1;
  $("mesh-text").textContent = plural(mesh.received.length, "vertex").replace("vertexs", "vertices") + " into the vertex shader, " + plural(mesh.count, "primitive")
    + " to the rasteriser (" + Object.entries(fates).map(([fate, count]) => counted(count) + " " + fate).join(", ") + ")"
    + (mesh.count > mesh.primitives.length ? "; the first " + counted(mesh.primitives.length) + " are drawn" : "");
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const points = mesh.received.filter((vertex) => vertex[0] !== null && vertex[1] !== null);
  // Parallel projection after a turn; y goes up.
  turnMesh = () => {
    const [a, b] = meshAngles.map((angle) => [Math.cos(angle), Math.sin(angle)]);
    const turned = points.map(([x, y, z]) => [x * a[0] + (z ?? 0) * a[1], -(y * b[0] - ((z ?? 0) * a[0] - x * a[1]) * b[1])]);
    plot($("mesh-in"), turned, (context, place) => {
      context.fillStyle = color("--work");
      for (const point of turned) {
        const [x, y] = place(point);
        context.fillRect(x - 1.5, y - 1.5, 3, 3);
      }
    });
  };
  turnMesh();
  const whole = mesh.primitives.map((primitive) => ({ ...primitive, vertices: primitive.vertices.filter((vertex) => vertex && vertex[0] !== null && vertex[1] !== null) }));
  const target = look.targets[0];
  const frame = target ? [[0, 0], [target.width, target.height]] : [];
  plot($("mesh-out"), [...frame, ...whole.filter((primitive) => primitive.fate === "drawn").flatMap((primitive) => primitive.vertices)], (context, place) => {
    context.strokeStyle = color("--dim");
    if (target) {
      const [left, top] = place([0, 0]), [right, bottom] = place([target.width, target.height]);
      context.strokeRect(left, top, right - left, bottom - top);
    }
    for (const fate of ["clipped", "culled", "drawn"]) {
      context.strokeStyle = fate === "drawn" ? color("--work") : color("--bad");
      context.globalAlpha = fate === "drawn" ? 1 : 0.4;
      context.beginPath();
      for (const primitive of whole) {
        if (primitive.fate !== fate || primitive.vertices.length === 0) continue;
        const placed = primitive.vertices.map(place);
        if (placed.length === 1) context.rect(placed[0][0] - 1, placed[0][1] - 1, 2, 2);
        else { context.moveTo(...placed[0]); for (const point of placed.slice(1)) context.lineTo(...point); if (placed.length === 3) context.closePath(); }
      }
      context.stroke();
    }
  });
  document.documentElement.dataset.mesh = steps[current].draw;
}

/** Draws into a canvas so that all points fit. */
function plot(canvas, points, paint) {
  const context = canvas.getContext("2d");
  context.globalAlpha = 1;
  context.clearRect(0, 0, canvas.width, canvas.height);
  if (points.length === 0) return;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) { left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y); }
  const fit = Math.min((canvas.width - 20) / (right - left || 1), (canvas.height - 20) / (bottom - top || 1));
  paint(context, ([x, y]) => [10 + (x - left) * fit, 10 + (y - top) * fit]);
}

// ---- Shaders and findings

function showShaders(look) {
  $("shaders").replaceChildren(...look.kernels.flatMap((kernel) => [
    element("h3", "", kernel.stage + " " + kernel.dispatch + " at " + kernel.address + ", " + counted(kernel.bytes) + " bytes"),
    element("pre", "", kernel.text),
  ]), ...(look.kernels.length ? [] : [element("p", "dim", "The step has no shader.")]));
}

/** Assigns each finding to the first step of its submission that comes at or after its packet. */
function placeFindings() {
  found = new Map();
  const bySubmission = new Map([[null, [...steps.keys()]]]);
  steps.forEach((step, index) => {
    const exec = step.exec ?? step.submission;
    if (!bySubmission.has(exec)) bySubmission.set(exec, []);
    bySubmission.get(exec).push(index);
  });
  const place = (exec, address, finding) => {
    const own = bySubmission.get(exec) ?? [];
    const at = Number(address);
    let index = own.find((index) => Number(steps[index].address) === at) ?? own.find((index) => Number(steps[index].address) > at) ?? own[own.length - 1];
    index ??= -1;
    if (!found.has(index)) found.set(index, []);
    found.get(index).push(finding);
  };
  for (const finding of findings.rules?.findings ?? [])
    place(finding.exec, finding.packet.address, { rule: finding.rule, severity: finding.severity, message: finding.message, at: finding.packet.name + " at " + finding.packet.address, source: finding.source });
  for (const finding of findings.sanitize?.findings ?? [])
    place(null, finding.second.address, { rule: finding.sanitizer + ": " + finding.rule, severity: finding.severity, message: finding.message + ". " + finding.remedy, at: finding.second.packet + " at " + finding.second.address + ", after " + finding.first.packet + " at " + finding.first.address, source: finding.source });
  filterSteps();
  showFindings();
}

function findingOf(finding) {
  const box = element("div", "finding " + finding.severity);
  box.append(element("b", "", finding.rule), " " + finding.severity + " ", element("div", "", finding.message), element("div", "dim", finding.at + (finding.source ? "; " + finding.source : "")));
  return box;
}

function showFindings() {
  const pane = $("findings"), made = [];
  if (current >= 0) {
    const own = found.get(current) ?? [];
    made.push(element("h3", "", "At this step"), ...(own.length ? own.map(findingOf) : [element("p", "dim", findings.rules ? "none" : "the rules are not checked yet")]));
  }
  if (findings.rules?.error) made.push(element("p", "bad", findings.rules.error));
  const others = [...found].filter(([index]) => index !== current);
  if (others.length) made.push(element("h3", "", "At other steps"));
  for (const [index, list] of others.slice(0, 200)) {
    const go = element("button", "", index < 0 ? plural(list.length, "finding") + " without a step" : "step " + steps[index].number + ": " + plural(list.length, "finding"));
    go.type = "button";
    if (index >= 0) go.addEventListener("click", () => select(index));
    made.push(go);
    if (index < 0) made.push(...list.map(findingOf));
  }
  pane.replaceChildren(...made);
}

function setTab(name) {
  tab = name;
  for (const pane of document.querySelectorAll(".pane")) pane.hidden = pane.id !== name;
  for (const button of document.querySelectorAll("#tabs button")) button.setAttribute("aria-selected", button.dataset.tab === name);
  if (name === "mesh") showMesh();
  if (name === "targets") sizePicture();
}

// ---- Search

function search() {
  const words = $("query").value.trim().toLowerCase();
  matches = words === "" ? [] : [...steps.keys()].filter((index) => textOf(steps[index]).includes(words));
  $("count").textContent = words === "" ? "" : plural(matches.length, "match");
  drawRows();
}

const textOf = (step) => (step.text ??= [step.packet, step.title, step.address, step.batch, step.engine, step.words, ...step.changed].join("\n").toLowerCase());

function toMatch(by) {
  if (matches.length === 0) return;
  const next = by > 0 ? matches.find((index) => index > current) ?? matches[0] : matches.findLast((index) => index < current) ?? matches[matches.length - 1];
  if (!shown.includes(next)) { $("filter").value = ""; filterSteps(); }
  select(next);
  $("count").textContent = matches.indexOf(next) + 1 + " of " + counted(matches.length);
}

// ---- Keys

function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  if (event.key === "Escape") { $("history").hidden = true; $("steps").focus(); return; }
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const inPicture = document.activeElement === $("view");
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const target = lookNow()?.targets[$("target").value];
  const show = (name) => () => { when = name; setTab("targets"); showPicture(); };
  const act = inPicture && arrows[event.key] && target
    ? () => { const [x, y] = cursor ?? [0, 0], [dx, dy] = arrows[event.key]; setCursor([Math.min(Math.max(x + dx, 0), target.width - 1), Math.min(Math.max(y + dy, 0), target.height - 1)]); }
    : inPicture && event.key === "Enter" ? showHistory
    : {
      j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1),
      Home: () => move(-Infinity), End: () => move(Infinity), PageDown: () => move(8), PageUp: () => move(-8),
      "/": () => $("query").select(), "?": () => $("help").showModal(),
      n: () => toMatch(1), N: () => toMatch(-1),
      b: show("before"), a: show("after"), d: show("difference"), o: show("overdraw"), c: show("cost"),
      t: () => { const select = $("target"); if (select.options.length) { select.selectedIndex = (select.selectedIndex + 1) % select.options.length; showPicture(); } },
      "+": () => setZoom(1), "=": () => setZoom(1), "-": () => setZoom(-1), 0: () => setZoom(0),
      1: () => setTab("targets"), 2: () => setTab("mesh"), 3: () => setTab("shaders"), 4: () => setTab("findings"),
    }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

addEventListener("keydown", key);
addEventListener("resize", () => { drawRows(); sizePicture(); });
$("steps").addEventListener("scroll", drawRows);
$("steps").addEventListener("click", (event) => {
  const row = event.target.closest(".step");
  if (row) select(Number(row.dataset.index));
});
$("filter").addEventListener("change", filterSteps);
$("query").addEventListener("input", search);
$("find").addEventListener("submit", (event) => { event.preventDefault(); toMatch(1); });
$("next").addEventListener("click", () => toMatch(1));
$("previous").addEventListener("click", () => toMatch(-1));
$("show-help").addEventListener("click", () => $("help").showModal());
$("target").addEventListener("change", showPicture);
$("larger").addEventListener("click", () => setZoom(1));
$("smaller").addEventListener("click", () => setZoom(-1));
$("fit").addEventListener("click", () => setZoom(0));
for (const button of document.querySelectorAll("#tabs button")) button.addEventListener("click", () => setTab(button.dataset.tab));
for (const button of document.querySelectorAll("#whens button")) button.addEventListener("click", () => { when = button.dataset.when; showPicture(); });
$("view").addEventListener("mousemove", (event) => { const pixel = pixelAt(event); if (pixel && String(pixel) !== String(cursor)) setCursor(pixel); });
$("view").addEventListener("click", (event) => { const pixel = pixelAt(event); if (pixel) { setCursor(pixel); showHistory(); } });
$("mesh-in").addEventListener("pointermove", (event) => {
  if (event.buttons === 0) return;
  meshAngles[0] += event.movementX / 100;
  meshAngles[1] += event.movementY / 100;
  turnMesh();
});
setTab("targets");
showPicture();
$("steps").focus();
poll();
