import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readAddressInput } from '../../core/addresses/address-input.ts';
import { createOpenApiDocument } from '../../tools/openapi/reference.ts';
import { anyCharacter } from '../support/any-character.ts';

type Parameter = { name: string; schema: { pattern?: string; minimum?: number; maximum?: number } };

const parameters = createOpenApiDocument().paths?.['/address']?.get?.parameters as unknown as Parameter[];
const valid = { postcode: '1012RJ', huisnummer: '147', toevoeging: 'a' };

function schemaOf(name: keyof typeof valid): Parameter['schema'] {
  const found = parameters.find((parameter) => parameter.name === name);
  if (!found) throw new Error(`the document has no parameter ${name}`);
  return found.schema;
}

function accepts(name: keyof typeof valid, value: string): boolean {
  return readAddressInput(`${new URLSearchParams({ ...valid, [name]: value })}`).request !== null;
}

/** Text that is often nearly right. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(' ', '0', '1', '9', 'a', 'Z', 'ß', 'ſ', '-', '\t', '\u00a0'), maxLength: 9 }),
  fc.stringMatching(/^ ?[1-9]\d{3} ?[a-zA-Z]{2} ?$/),
  fc.string({ unit: anyCharacter }),
);

describe('the described parameters', () => {
  it.each(['postcode', 'toevoeging'] as const)('accept a %s exactly when the service does', (name) => {
    const pattern = new RegExp(schemaOf(name).pattern ?? '(?!)', 'u');
    fc.assert(
      fc.property(text, (value) => expect([value, pattern.test(value)]).toEqual([value, accepts(name, value)])),
    );
  });

  it('accept a huisnummer exactly when the service accepts the same text', () => {
    const { minimum = Infinity, maximum = -Infinity } = schemaOf('huisnummer');
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -2, max: 100_001 }), fc.integer()), (value) => {
        expect(accepts('huisnummer', String(value))).toBe(value >= minimum && value <= maximum);
      }),
    );
  });
});
