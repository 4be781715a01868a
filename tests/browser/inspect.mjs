// Checks of the page of `genx inspect` in a real browser; see README.md.

import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../..");
const genx = process.env.GENX ?? ["release", "debug"].map((kind) => path.join(root, "target", kind, "genx")).find(fs.existsSync);
const chrome = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(fs.existsSync);
/** A folder of captures. */
const corpus = process.env.GENXML_CORPUS ?? path.join(root, "../shared/corpus");
/** Where screenshots go, if they are to be kept. */
const shots = process.argv[2];

if (!genx || !chrome) {
  console.error("needs genx (cargo build -p genx, or GENX=...) and Chromium (CHROMIUM=...)");
  process.exit(2);
}
const work = fs.mkdtempSync(path.join(os.tmpdir(), "genx-inspect-"));
const trouble = [];
const running = [];

/** Writes the capture of a demo. */
function demo(name) {
  const capture = path.join(work, name);
  execFileSync(genx, ["demo", name, "-o", path.join(work, name + ".png"), "--capture", capture], { stdio: "ignore" });
  return capture;
}

/** Starts the inspector, gives the address of the page. */
async function serve(input, ...more) {
  const child = spawn(genx, ["inspect", input, "--no-open", ...more], { stdio: ["ignore", "pipe", "inherit"] });
  running.push(child);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("genx inspect printed no address");
}

const browser = await chromium.launch({
  executablePath: chrome,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function open(url, { theme = "light", width = 1400, height = 900, hash = "" } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  page.on("pageerror", (error) => trouble.push(error.message));
  page.on("console", (message) => message.type() === "error" && trouble.push(message.text()));
  page.on("request", (request) => request.url().startsWith(url) || request.url().startsWith("data:") || trouble.push("asks for " + request.url()));
  await page.goto(url + hash);
  await until(page, () => document.documentElement.dataset.ready === "all");
  return page;
}

/** Waits until a function in the page is true. The page forbids `eval`, which waitForFunction needs. */
async function until(page, wanted, value) {
  for (const end = Date.now() + 60000; Date.now() < end; await new Promise((go) => setTimeout(go, 50)))
    if (await page.evaluate(wanted, value)) return;
  throw new Error("waited in vain for " + wanted);
}

const picture = (page, what) => until(page, (what) => document.documentElement.dataset.picture?.endsWith(what) && !document.getElementById("picture").hidden, what);
const shot = async (page, name) => { if (shots) { fs.mkdirSync(shots, { recursive: true }); await page.screenshot({ path: path.join(shots, name + ".png") }); } };

const checks = {
  async "the list, the state and the pictures of the cubes"() {
    const page = await open(await serve(demo("cube")));
    await picture(page, "/after");
    assert.equal(await page.locator(".step.current .name").first().innerText().then((text) => text.slice(0, 6)), "draw 1");
    assert.match(await page.locator("#panel").innerText(), /3DSTATE_PS/);
    for (const [key, what] of [["b", "before"], ["d", "difference"], ["o", "overdraw"], ["c", "cost"], ["a", "after"]]) {
      await page.keyboard.press(key);
      await picture(page, "/" + what);
      await shot(page, "cube-" + what);
    }
    // The pixel in the middle: the value, and the history with the fragments of the draw.
    const box = await page.locator("#picture").boundingBox();
    await page.mouse.click(box.x + (box.width * 256.5) / 512, box.y + (box.height * 256.5) / 512);
    await page.waitForSelector("#history[data-pixel='256,256']", { timeout: 60000 });
    assert.match(await page.locator("#history").innerText(), /written/);
    await page.waitForSelector("#value[data-pixel='256,256']");
    assert.match(await page.locator("#value").innerText(), /0x[0-9a-f]{8}/);
    await shot(page, "cube-history");
    await page.keyboard.press("Escape");
    await page.keyboard.press("2");
    await until(page, () => document.documentElement.dataset.mesh === "1");
    const painted = (id) => page.evaluate((id) => { const canvas = document.getElementById(id); return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0); }, id);
    assert.ok(await painted("mesh-in") && await painted("mesh-out"), "both meshes are drawn");
    await shot(page, "cube-mesh");
    await page.keyboard.press("3");
    assert.match(await page.locator("#shaders").innerText(), /send/);
    await page.keyboard.press("4");
    await until(page, () => document.querySelector("#findings h3") !== null);
    await page.keyboard.press("1");
    // Zoom, and the pixel under the keys.
    await page.locator("#view").focus();
    await page.keyboard.press("+");
    assert.match(await page.locator("#zoom").innerText(), /x$/);
    await page.keyboard.press("0");
    assert.equal(await page.locator("#zoom").innerText(), "fit");
    await page.keyboard.press("ArrowRight");
    await page.close();
  },
  async "search and keys"() {
    const page = await open(await serve(demo("texture")));
    await page.keyboard.press("/");
    await page.keyboard.type("3DSTATE_PS");
    assert.match(await page.locator("#count").innerText(), /^[1-9]\d* match/);
    await page.keyboard.press("Enter");
    assert.match(await page.locator("#count").innerText(), /^1 of/);
    await page.locator("#query").fill("no such text");
    assert.equal(await page.locator("#count").innerText(), "0 matches");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.id), "steps");
    await page.keyboard.press("?");
    assert.ok(await page.locator("#help").isVisible());
    await page.keyboard.press("Escape");
    await page.close();
  },
  async "dark, and a small window"() {
    const url = await serve(demo("triangle"));
    for (const [theme, width] of [["dark", 1400], ["light", 600]]) {
      const page = await open(url, { theme, width });
      await picture(page, "/after");
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the window");
      const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(back, theme === "dark" ? "rgb(22, 24, 27)" : "rgb(252, 252, 250)");
      await shot(page, "triangle-" + theme + "-" + width);
      await page.close();
    }
  },
  async "blits, and a buffer that a dispatch wrote"() {
    const drivers = path.join(corpus, "drivers");
    if (!fs.existsSync(drivers)) return console.log("skipped: there are no captures in " + drivers);
    let page = await open(await serve(path.join(drivers, "igt_gem_blt")));
    await picture(page, "image/1/0/after");
    assert.match(await page.locator("#target").innerText(), /^destination: /);
    assert.equal(await page.locator(".step.current img").count(), 1, "the step has a small picture");
    await shot(page, "blit");
    await page.keyboard.press("t");
    await picture(page, "image/1/1/after");
    await page.close();
    page = await open(await serve(path.join(drivers, "cl_vadd")));
    await until(page, () => document.documentElement.dataset.buffer !== undefined);
    assert.match(await page.locator("#buffer").innerText(), /bytes changed/);
    assert.ok(!(await page.locator("#view").isVisible()));
    await shot(page, "buffer");
    await page.close();
  },
  async "a dispatch"() {
    const page = await open(await serve(demo("fill")));
    await picture(page, "image/1/0/after");
    assert.match(await page.locator(".step.current").innerText(), /GPGPU_WALKER/);
    assert.equal(await page.locator(".step.current img").count(), 1, "the step has a small picture");
    assert.ok(!(await page.locator("#whens button[data-when='overdraw']").isVisible()), "heat maps are for draws");
    for (const [key, what] of [["b", "before"], ["d", "difference"], ["a", "after"]]) {
      await page.keyboard.press(key);
      await picture(page, "image/1/0/" + what);
    }
    const box = await page.locator("#picture").boundingBox();
    await page.mouse.move(box.x + (box.width * 16.5) / 256, box.y + (box.height * 3.5) / 256);
    await page.waitForSelector("#value[data-pixel='16,3']");
    assert.match(await page.locator("#value").innerText(), /0x00000000.*0xff130310/);
    await shot(page, "fill");
    await page.keyboard.press("3");
    await until(page, () => /send/.test(document.getElementById("shaders").textContent));
    await page.close();
  },
};

let failed = 0;
for (const [name, run] of Object.entries(checks)) {
  try {
    await run();
    console.log("ok    " + name);
  } catch (error) {
    failed += 1;
    console.log("FAILS " + name + "\n" + error.stack);
  }
}
for (const text of trouble) console.log("FAILS in the page: " + text);
await browser.close();
for (const child of running) child.kill();
fs.rmSync(work, { recursive: true, force: true });
process.exit(failed || trouble.length ? 1 : 0);
