/** Numbers that look random and are the same for the same seed, on any machine. */
export class Random {
  #state: number;

  /** `seeds` are mixed, so that neighbouring blocks and objects have nothing in common. */
  constructor(...seeds: number[]) {
    this.#state = seeds.reduce((state, seed) => mix(state ^ mix(seed + 0x9e3779b9)), 0x85ebca6b);
  }

  /** From 0 up to `below`, whole. */
  int(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    return Math.floor((mix(this.#state) / 2 ** 32) * below);
  }

  /** True in about `share` of the calls. */
  chance(share: number): boolean {
    return this.int(1_000_000) < share * 1_000_000;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.int(values.length)] as T;
  }
}

function mix(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
