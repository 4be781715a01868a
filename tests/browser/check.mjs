// Checks of the page of `genx decode --format html` in a real browser; see README.md.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { batch } from "./batch.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../..");
const genx = process.env.GENX ?? ["release", "debug"].map((kind) => path.join(root, "target", kind, "genx")).find(fs.existsSync);
const chrome = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(fs.existsSync);
const corpus = process.env.GENXML_CORPUS ?? path.join(root, "../shared/corpus");
/** Where screenshots go, if they are to be kept. */
const shots = process.argv[2];
/** A page for a batch of 1 MB is there after so many milliseconds. */
const LIMIT = 2000;

if (!genx || !chrome) {
  console.error("needs genx (cargo build -p genx, or GENX=...) and Chromium (CHROMIUM=...)");
  process.exit(2);
}
const work = fs.mkdtempSync(path.join(os.tmpdir(), "genx-page-"));
const decode = (...args) => execFileSync(genx, ["decode", ...args], { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] });

/** Writes the page of a dump, gives its path. */
function pageOf(name, ...args) {
  const file = path.join(work, name + ".html");
  fs.writeFileSync(file, decode(...args, "--format", "html"));
  return file;
}

function raw(name, dwords) {
  const file = path.join(work, name);
  fs.writeFileSync(file, new Uint8Array(Uint32Array.from(dwords).buffer));
  return [file, "--raw", "--engine", "render", "--address", "0x100000"];
}

const browser = await chromium.launch({
  executablePath: chrome,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** What went wrong in any page. */
const trouble = [];

async function open(file, { width = 1280, height = 800, theme = "light", hash = "" } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  page.on("pageerror", (error) => trouble.push(`${path.basename(file)}: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && trouble.push(`${path.basename(file)}: ${message.text()}`));
  page.on("dialog", () => trouble.push(`${path.basename(file)}: a dialog was opened`));
  page.on("request", (request) => /^(file|data):/.test(request.url()) || trouble.push(`${path.basename(file)}: asks for ${request.url()}`));
  await page.goto("file://" + encodeURI(file).replace(/[?#]/g, encodeURIComponent) + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready !== undefined, null, { timeout: 60000 });
  return page;
}

const checks = [];
const check = (name, run) => checks.push([name, run]);

/** The current row as assistive technology sees it. */
const current = (page) => page.evaluate(() => {
  const id = document.getElementById("tree").getAttribute("aria-activedescendant");
  const row = document.getElementById(id);
  return row && {
    label: row.getAttribute("aria-label"), level: Number(row.getAttribute("aria-level")), expanded: row.getAttribute("aria-expanded"),
    inView: row.getBoundingClientRect().top >= row.closest("#tree").getBoundingClientRect().top - 1 && row.getBoundingClientRect().bottom <= row.closest("#tree").getBoundingClientRect().bottom + 1,
  };
});
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
  return current(page);
};

// PIPE_CONTROL with a reserved bit; an unknown command; a register; state, draw, changed state, draw.
const SMALL = [
  0x7a000004, 0x80000000, 0x1000, 0, 0, 0, 0x7fff0001, 1, 2, 0x11000001, 0x7034, 5,
  0x78140000, 0, 0x784b0000, 4, 0x7b000005, 4, 3, 0, 1, 0, 0,
  0x78140000, 0, 0x784b0000, 15, 0x7b000005, 15, 3, 0, 1, 0, 0xffffffff, 0x05000000,
];
const small = pageOf("small", ...raw("small.bin", SMALL));
fs.writeFileSync(path.join(work, "big.bin"), batch(1 << 20));
const big = pageOf("big", path.join(work, "big.bin"), "--raw", "--engine", "render", "--address", "0x100000");

const captures = fs.existsSync(corpus)
  ? ["images", "drivers"].flatMap((folder) => fs.readdirSync(path.join(corpus, folder)).sort().map((name) => path.join(corpus, folder, name)))
  : [];
if (captures.length === 0) console.log(`skipped the checks of captures: nothing at ${corpus}`);
const pages = () => captures.map((capture) => [pageOf(path.basename(capture), capture), capture]);

check("a batch of 1 MB opens in time", async () => {
  let best = { ready: Infinity };
  for (let round = 0; round < 3; round++) {
    const page = await open(big);
    const now = await page.evaluate(() => ({
      ready: Number(document.documentElement.dataset.ready),
      paint: Math.round(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? -1),
      records: records.length,
    }));
    if (now.ready < best.ready) best = now;
    await page.close();
  }
  console.log(`  ${(fs.statSync(big).size / 1e6).toFixed(1)} MB of page, ${best.records} records: ready after ${best.ready} ms, first paint ${best.paint} ms`);
  assert(best.ready < LIMIT, `${best.ready} ms`);
});

check("scrolling and searching are immediate, and only visible rows are drawn", async () => {
  const page = await open(big);
  await page.evaluate(() => openAll(true));
  const times = await page.evaluate(async () => {
    const times = [];
    for (let step = 0; step < 60; step++) {
      tree.scrollTop = step * 7919 * 20 % (rows.offsetHeight - 900);
      const start = performance.now();
      draw();
      times.push(performance.now() - start);
      await new Promise(requestAnimationFrame);
    }
    return times.sort((a, b) => a - b);
  });
  const drawn = await page.evaluate(() => document.querySelectorAll(".row").length);
  assert(drawn < 100, `${drawn} rows are drawn`);
  const found = await page.evaluate(async () => {
    const start = performance.now();
    await search("vertex count");
    return { time: performance.now() - start, count: matchRecords.length };
  });
  console.log(`  a screen is drawn in ${times[30].toFixed(1)} ms (slowest of 60: ${times[59].toFixed(1)}), ${found.count} matches in ${found.time.toFixed(0)} ms`);
  assert(times[30] < 16, "slower than a frame");
  assert(found.count > 1000);
  await page.close();
});

check("the keyboard alone moves in the tree", async () => {
  const page = await open(small);
  let row = await current(page);
  assert.equal(row.expanded, "true");
  assert.equal(row.level, 1);
  row = await press(page, "ArrowDown");
  assert.match(row.label, /^PIPE_CONTROL, 0x100000/);
  assert.deepEqual([row.level, row.expanded], [2, "false"]);
  row = await press(page, "ArrowRight");
  assert.equal(row.expanded, "true");
  row = await press(page, "ArrowRight", "ArrowDown");
  assert.equal(row.level, 3);
  assert.match(row.label, /: /);
  row = await press(page, "ArrowLeft");
  assert.match(row.label, /^PIPE_CONTROL/);
  row = await press(page, "ArrowLeft");
  assert.equal(row.expanded, "false");
  row = await press(page, " ");
  assert.equal(row.expanded, "true");
  row = await press(page, "Enter");
  assert.equal(row.expanded, "false");
  row = await press(page, "End");
  assert.match(row.label, /^MI_BATCH_BUFFER_END/);
  assert(row.inView);
  row = await press(page, "Home");
  assert.equal(row.level, 1);
  row = await press(page, "i");
  assert.match(row.label, /must be zero|reserved bits are set/);
  row = await press(page, "i");
  assert.match(row.label, /^unknown 3D command/);
  row = await press(page, "d");
  assert.match(row.label, /^3DPRIMITIVE/);
  row = await press(page, "d");
  assert.match(row.label, /^3DPRIMITIVE, 0x10006c/);
  row = await press(page, "D", "D");
  assert.match(row.label, /^3DPRIMITIVE, 0x100040/);
  row = await press(page, "ArrowDown", "*");
  row = await press(page, "End");
  assert.equal(row.level, 2);
  await page.close();
});

check("every control is in the tab order and has a name", async () => {
  const page = await open(small);
  const order = [];
  // One full cycle of the tab order, from the tree to the tree.
  await page.focus("#tree");
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press("Tab");
    const id = await page.evaluate(() => {
      const focus = document.activeElement;
      const outline = getComputedStyle(focus).outlineStyle;
      return focus === document.body ? "" : (outline === "none" ? "no outline: " : "") + (focus.id || focus.tagName.toLowerCase());
    });
    if (id) order.push(id);
    if (id === "tree") break;
  }
  assert(!order.some((id) => id.startsWith("no outline")), order.join(" "));
  const wanted = ["query", "previous", "next", "filter", "open-all", "close-all", "toggle-panel", "show-help", "tree"];
  assert.deepEqual(order.filter((id) => wanted.includes(id)), wanted);
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, [role=treeitem]:not([aria-hidden]), img, dialog, aside")]
    .filter((one) => !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.alt || one.textContent.trim())).map((one) => one.outerHTML));
  assert.deepEqual(nameless, []);
  await page.close();
});

check("search finds names, values, addresses and the record that contains an address", async () => {
  const page = await open(small);
  const find = async (text) => {
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "query");
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    return [await page.textContent("#count"), await current(page)];
  };
  let [count, row] = await find("3dprim_rectlist");
  assert.equal(count, "1 of 2");
  assert.match(row.label, /^Primitive Topology Type: 3DPRIM_RECTLIST \(15\)/);
  assert.match((await press(page, "n")).label, /3DPRIM_RECTLIST/);
  assert.equal(await page.textContent("#count"), "2 of 2");
  await press(page, "N");
  assert.equal(await page.textContent("#count"), "1 of 2");
  assert((await page.locator("mark").count()) > 0);
  [count, row] = await find("0x000000100044");
  assert.match(row.label, /^3DPRIMITIVE, 0x100040/);
  [, row] = await find("L3CNTLREG");
  assert.match(row.label, /L3CNTLREG/);
  [count] = await find("zorro");
  assert.equal(count, "no match");
  await page.close();
});

check("a draw lists its state and what changed", async () => {
  const page = await open(small);
  await press(page, "d", "d");
  const state = await page.evaluate(() => [...document.querySelectorAll("#panel .states > li")].map((item) => item.innerText.replace(/\s+/g, " ")));
  assert.match(state[0], /^3DSTATE_VF_TOPOLOGY 0x[0-9a-f]+ changed Primitive Topology Type: 3DPRIM_TRILIST \(4\) \u2192 3DPRIM_RECTLIST \(15\)$/);
  assert(state.some((text) => /^3DSTATE_WM .*set again$/.test(text)), state.join("\n"));
  assert(state.some((text) => /^L3CNTLREG/.test(text)), state.join("\n"));
  await page.click("#panel .states a");
  assert.match((await current(page)).label, /^3DSTATE_VF_TOPOLOGY/);
  await page.goBack();
  await page.waitForTimeout(100);
  assert.match((await current(page)).label, /^3DPRIMITIVE, 0x10006c/);
  await page.close();
});

check("filters show packets and their parents", async () => {
  const page = await open(small);
  const names = () => page.evaluate(() => [...document.querySelectorAll(".head .name")].map((name) => name.textContent));
  await page.selectOption("#filter", "3DSTATE_WM");
  assert.deepEqual((await names()).slice(1), ["3DSTATE_WM", "3DSTATE_WM"]);
  await page.selectOption("#filter", "@work");
  assert.deepEqual((await names()).slice(1), ["3DPRIMITIVE", "3DPRIMITIVE"]);
  await page.selectOption("#filter", "@issues");
  assert.deepEqual((await names()).slice(1), ["PIPE_CONTROL", "unknown 3D command"]);
  await page.selectOption("#filter", "");
  assert((await names()).length > 5);
  await page.close();
});

check("help opens and closes by key", async () => {
  const page = await open(small);
  await page.keyboard.press("?");
  assert(await page.evaluate(() => document.getElementById("help").open));
  await page.keyboard.press("Escape");
  assert(!(await page.evaluate(() => document.getElementById("help").open)));
  await page.close();
});

check("names from the input stay text", async () => {
  const name = "<img src=x onerror=alert(1)>&quot;\u202egnp.bin";
  const args = raw(name, SMALL);
  const page = await open(pageOf("hostile", ...args));
  assert.equal(await page.locator("header img").count(), 0);
  assert.match(await page.textContent("#input"), /<img src=x onerror=alert\(1\)>&quot;/);
  await page.close();
});

check("a truncated page reports it", async () => {
  const whole = fs.readFileSync(big, "utf8");
  const file = path.join(work, "cut.html");
  fs.writeFileSync(file, whole.slice(0, whole.length / 2));
  const page = await open(file);
  assert.match(await page.textContent("#remarks"), /not whole/);
  assert(await page.evaluate(() => records.length > 1000));
  await page.close();
});

check("every size and theme: nothing overlaps or overflows, text is readable", async () => {
  const capture = captures.find((path) => /vk_triangle$/.test(path));
  const file = capture ? pageOf("shot", capture) : small;
  for (const [width, height] of [[390, 844], [1280, 800], [1920, 1200]]) {
    for (const theme of ["light", "dark"]) {
      const page = await open(file, { width, height, theme });
      await press(page, "d", "ArrowRight");
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert(overflow <= 0, `${width}: the page is ${overflow} wider than the screen`);
      const poor = await page.evaluate(contrasts);
      assert.deepEqual(poor, [], `${width} ${theme}`);
      if (shots) await page.screenshot({ path: path.join(shots, `${width}-${theme}.png`) });
      await page.close();
    }
  }
});

/** Texts in view whose contrast with what is behind them is below 4.5 (WCAG 2.2, 1.4.3). */
function contrasts() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (color, under) => {
    canvas.fillStyle = under ?? "#fff";
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const luminance = (rgb) => rgb.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
  const back = (one) => {
    const over = [];
    for (let at = one; at; at = at.parentElement) over.push(getComputedStyle(at).backgroundColor);
    return over.reverse().reduce((under, color) => `rgb(${parse(color, under)})`, "#fff");
  };
  const poor = new Set();
  for (const one of document.querySelectorAll("span, dt, dd, li, td, th, h1, h2, h3, p, a, button, pre, mark")) {
    const box = one.getBoundingClientRect();
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || box.width < 2 || box.bottom < 0 || box.top > innerHeight) continue;
    if (one.closest("dialog:not([open]), #status, optgroup")) continue;
    const [a, b] = [parse(getComputedStyle(one).color), parse(back(one))].map(luminance).sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.add(`${one.className || one.tagName}: ${ratio.toFixed(2)}`);
  }
  return [...poor];
}

check("it prints", async () => {
  const page = await open(small);
  await page.evaluate(() => openAll(true));
  const rowsThen = await page.evaluate(() => rowCount);
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const printed = await page.evaluate(() => [...document.querySelectorAll(".row")].filter((row) => row.getBoundingClientRect().height > 0).length);
  assert.equal(printed, rowsThen);
  const pdf = await page.pdf();
  assert(pdf.length > 5000);
  if (shots) fs.writeFileSync(path.join(shots, "print.pdf"), pdf);
  await page.close();
});

/** Every record and field as a line of text output. */
function asText() {
  const lines = [];
  records.forEach((record, at) => {
    if (record.kind === "submission") return;
    const indent = "  ".repeat(record.depth - 1);
    if (record.kind === "note") lines.push(indent + record.note);
    else {
      const packet = isPacket(record);
      const count = record.length + (record.length === 1 ? " dword" : " dwords");
      lines.push(indent + (record.kind === "register" ? hex(record.address) : "0x" + record.address.toString(16).padStart(12, "0")) + ": " +
        (packet ? record.dwords.slice(0, 8) + "  " : "") + title(record) + (packet ? "  " + count : "") + (record.kind === "row" ? "\u0001" : record.note ? "  (" + record.note + ")" : ""));
    }
    if (["unknown", "data", "row"].includes(record.kind)) return;
    for (const field of record.items) {
      const name = "  ".repeat(field.depth) + fieldName(field);
      const value = valueText(field) + (field.issue ? " (" + field.issue + ")" : "");
      lines.push(indent + "    " + bits(field).padEnd(11) + " " + name + (field.type === 0 ? ":" : (field.name ? ": " : "") + value));
    }
    let before = -1;
    for (const [offset, text] of record.lines) {
      lines.push(indent + "    " + (offset === before ? " ".repeat(11) : "+0x" + offset.toString(16).padStart(4, "0") + ": ") + text);
      before = offset;
    }
  });
  return lines;
}

check("the page has the same text as the text output", async () => {
  const inputs = [[small, ...raw("small.bin", SMALL)], [big, path.join(work, "big.bin"), "--raw", "--engine", "render", "--address", "0x100000"], ...pages()];
  for (const [file, ...args] of inputs) {
    const page = await open(file);
    const found = await page.evaluate(asText);
    await page.close();
    const text = decode(...args).toString().split("\n");
    // Skip the first line of a submission, dwords of unknown packets, and rows of data.
    const wanted = text.filter((line) => /^ *(0x[0-9a-f]+: |dw\d+ \d|\+0x[0-9a-f]{4,}: +(?![0-9a-f]{8}( |$)))/.test(line));
    const notes = found.filter((line) => !/^ *(0x|dw\d|\+0x)/.test(line));
    const rest = found.filter((line) => /^ *(0x|dw\d|\+0x)/.test(line));
    for (let place = 0; place < Math.max(rest.length, wanted.length); place++) {
      // The values of a table row are in its line.
      if (rest[place]?.endsWith("\u0001") && wanted[place]?.startsWith(rest[place].slice(0, -1))) continue;
      assert.equal(rest[place]?.trimEnd(), wanted[place]?.trimEnd(), file);
    }
    for (const note of notes) assert(text.includes(note), note);
  }
});

check("links lead to rows, in every capture", async () => {
  let links = 0;
  let pictures = 0;
  for (const [file] of pages()) {
    const page = await open(file);
    const seen = await page.evaluate(async () => {
      let links = 0;
      const bad = [];
      openAll(true);
      for (let row = 0; row < rowCount; row++) {
        for (const made of rowElement(row).querySelectorAll("a.link")) {
          links++;
          const to = Number(made.hash.slice(2));
          if (!records[to]) bad.push(made.hash);
        }
      }
      for (let at = 0; at < records.length; at += 7) {
        goTo(at);
        for (const made of document.querySelectorAll("#panel a.link")) if (!records[parseInt(made.hash.slice(2))]) bad.push(made.hash);
      }
      const images = [];
      for (const picture of pictures) {
        const image = new Image();
        image.src = "data:image/png;base64," + picture.base64;
        await image.decode();
        images.push([image.naturalWidth, image.naturalHeight, picture.width, picture.height]);
      }
      return { links, bad, images };
    });
    assert.deepEqual(seen.bad, [], file);
    for (const [width, height, across, down] of seen.images) assert(width > 0 && width <= across && height <= down);
    links += seen.links;
    pictures += seen.images.length;
    await page.close();
  }
  console.log(`  ${links} links, ${pictures} pictures`);
  if (captures.length) assert(links > 0 && pictures > 0, "captures have surfaces in memory");
});

let failed = 0;
for (const [name, run] of checks) {
  const before = trouble.length;
  try {
    await run();
    assert.deepEqual(trouble.slice(before), []);
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
await browser.close();
fs.rmSync(work, { recursive: true });
console.log(failed ? `${failed} of ${checks.length} checks failed` : `all ${checks.length} checks passed`);
process.exit(failed ? 1 : 0);
