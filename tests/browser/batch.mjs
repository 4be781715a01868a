// Long batches of 3D state for the checks of the page. Values differ from draw to draw.

/** The generator of Marsaglia (xorshift32): the same numbers each time. */
function random(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Header, number of dwords behind it, and the bits that may be set in each; packets that stand before draws. */
const PACKETS = [
  [0x7a000004, [0x00101021, 0x0ffffffc, 0, 0, 0]], // PIPE_CONTROL
  [0x78080003, [0x04004010, 0x0ffffffc, 0, 0xffff]], // 3DSTATE_VERTEX_BUFFERS
  [0x78100007, [0xffffffc0, 0, 0x00fc0000, 0, 0, 0x1f00000, 0x7f800401, 0]], // 3DSTATE_VS
  [0x78120002, [0x7, 0x80000000, 0x1f]], // 3DSTATE_CLIP
  [0x78130002, [0x400, 0x7, 0x1ff]], // 3DSTATE_SF
  [0x78500003, [0x30000, 0, 0, 0]], // 3DSTATE_RASTER
  [0x781f0002, [0x3e00000, 0, 0]], // 3DSTATE_SBE
  [0x78140000, [0x80000000]], // 3DSTATE_WM
  [0x784d0000, [0x40000000]], // 3DSTATE_PS_BLEND
  [0x784e0001, [0xff, 0]], // 3DSTATE_WM_DEPTH_STENCIL
  [0x784b0000, [0x1f]], // 3DSTATE_VF_TOPOLOGY
  [0x78490001, [0x3f, 0xff]], // 3DSTATE_VF_INSTANCING
  [0x11000001, [0, 0xffff]], // MI_LOAD_REGISTER_IMM
];

/** Dwords of a batch of so many bytes, as they are in a file. */
export function batch(bytes, seed = 1) {
  const next = random(seed);
  const dwords = [];
  const room = bytes / 4 - 8;
  for (;;) {
    const draw = [];
    for (const [header, masks] of PACKETS) {
      if (next() % 3 === 0) continue;
      draw.push(header, ...masks.map((mask) => next() & mask));
      if (header === 0x11000001) draw[draw.length - 2] = 0x7034; // L3CNTLREG
    }
    draw.push(0x7b000005, 4, next() % 10000, next() % 100, 1, 0, 0); // 3DPRIMITIVE
    if (dwords.length + draw.length > room) break;
    dwords.push(...draw);
  }
  dwords.push(0x05000000); // MI_BATCH_BUFFER_END
  while (dwords.length < bytes / 4) dwords.push(0);
  const view = new DataView(new ArrayBuffer(bytes));
  dwords.forEach((dword, place) => view.setUint32(4 * place, dword >>> 0, true));
  return new Uint8Array(view.buffer);
}
