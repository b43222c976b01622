/**
 * Loops over bytes in WebAssembly, which Node compiles to vector instructions: JavaScript compares at most eight bytes
 * at once, and Node's zlib has no fast CRC-32 for x86 (decision 0110).
 */

/**
 * Instructions, as bytes. `p` is the address that the loop has reached, `q` the one at a constant distance from it, and
 * `at` is added to an address. `found` adds (OR) to what the loop returns whether there is any of.
 */
export const simd = {
  p: [0x20, 0],
  q: [0x20, 0, 0x20, 2, 0x6a],
  load: (at: number) => [0xfd, 0x00, 0, ...unsigned(at)],
  store: (at: number) => [0xfd, 0x0b, 0, ...unsigned(at)],
  xor: [0xfd, 0x51],
  subtract: [0xfd, 0x71],
  excess: [0xfd, 0x73],
  found: [0x20, 3, 0xfd, 0x50, 0x21, 3],
};

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => { exports: unknown };
};

/** Its memory, and the loop: from one address to another, in steps of 32 bytes. */
export type SimdLoop = { memory: Buffer; run: (start: number, end: number, distance: number) => number };

const pageBytes = 64 * 1024;

/** Compiles a loop over at least `bytes` of memory; `step` has the instructions for the 16 bytes at `p + at`. */
export function simdLoop(bytes: number, step: (at: number) => number[]): SimdLoop {
  const add32 = [...simd.p, 0x41, 32, 0x6a, 0x22, 0];
  const untilEnd = [...add32, 0x20, 1, 0x49, 0x0d, 0];
  const body = [1, 1, 0x7b, 0x03, 0x40, ...step(0), ...step(16), ...untilEnd, 0x0b, 0x20, 3, 0xfd, 0x53, 0x0b];
  const module = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 3, 0x7f, 0x7f, 0x7f, 1, 0x7f]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, ...unsigned(Math.ceil(bytes / pageBytes))]),
    ...section(7, [2, 1, 0x6d, 2, 0, 1, 0x66, 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ];
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(module)));
  const { m, f } = exports as { m: { buffer: ArrayBuffer }; f: SimdLoop['run'] };
  return { memory: Buffer.from(m.buffer), run: f };
}

function section(id: number, contents: number[]): number[] {
  return [id, ...unsigned(contents.length), ...contents];
}

/** A number as WebAssembly writes it (LEB128). */
function unsigned(number: number): number[] {
  return number < 0x80 ? [number] : [(number & 0x7f) | 0x80, ...unsigned(number >>> 7)];
}
