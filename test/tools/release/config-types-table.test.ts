import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { configTable } from '../../../tools/release/config-types.ts';

const page = new URL('../../../docs/configuration.md', import.meta.url);
const table = /^\| field \|.*\n(?:\|.*\n)+/m;

/** `UPDATE_DOCS=1 npm test -- test/tools/release` writes the page anew. */
it('the description of the schema matches the table in docs/configuration.md', () => {
  const expected = `${configTable()}\n`;
  if (process.env.UPDATE_DOCS)
    writeFileSync(
      page,
      readFileSync(page, 'utf8').replace(table, () => expected),
    );
  expect(readFileSync(page, 'utf8').match(table)?.[0]).toBe(expected);
});
