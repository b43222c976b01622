import { createHash, randomUUID } from 'node:crypto';
import type { Expression } from 'jsonata';

const algorithms = ['MD5', 'SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
const longestRange = 1000;

/** What Step Functions adds to JSONata. Whole numbers are rounded down first, as the service does. */
export const stepFunctions: Record<string, { signature: string; call: (...args: never[]) => unknown }> = {
  partition: {
    signature: '<an:a>',
    call(items: unknown[], size: number) {
      const length = Math.floor(size);
      if (!(length >= 1)) throw new Error('$partition needs a size of at least 1');
      return Array.from({ length: Math.ceil(items.length / length) }, (_, index) =>
        items.slice(index * length, (index + 1) * length),
      );
    },
  },
  range: {
    signature: '<nnn:a>',
    call(first: number, last: number, delta: number) {
      const [start, end, step] = [first, last, delta].map(Math.floor) as [number, number, number];
      if (step === 0) throw new Error('$range needs a delta other than 0');
      const length = Math.max(0, Math.floor((end - start) / step) + 1);
      if (length > longestRange) throw new Error(`$range makes at most ${longestRange} numbers`);
      return Array.from({ length }, (_, index) => start + index * step);
    },
  },
  hash: {
    signature: '<ss:s>',
    call(text: string, algorithm: string) {
      if (!algorithms.includes(algorithm)) throw new Error(`$hash knows ${algorithms.join(', ')}`);
      return createHash(algorithm.replace('-', '').toLowerCase()).update(text).digest('hex');
    },
  },
  random: {
    signature: '<n?:n>',
    call(seed?: number) {
      if (seed === undefined) return Math.random();
      return (
        createHash('sha256')
          .update(String(Math.floor(seed)))
          .digest()
          .readUInt32BE() /
        2 ** 32
      );
    },
  },
  uuid: { signature: '<:s>', call: () => randomUUID() },
  parse: { signature: '<s:x>', call: (text: string) => JSON.parse(text) },
  eval: {
    signature: '<sx?:x>',
    call() {
      throw new Error('$eval is not there in Step Functions; use $parse');
    },
  },
};

/** Gives an expression the functions of Step Functions. */
export function addStepFunctions(expression: Expression): void {
  for (const [name, { signature, call }] of Object.entries(stepFunctions)) {
    expression.registerFunction(name, call as (...args: unknown[]) => unknown, signature);
  }
}
