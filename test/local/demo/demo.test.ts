import { describe, expect, it } from '@jest/globals';
import { addressKey } from '../../../core/addresses/address-key.ts';
import { demoExamples, demoExtract, demoPeildatum } from '../../../local/demo/demo.ts';
import { readExtract } from '../../support/read-extract.ts';

describe('the demo extract', () => {
  it('has the documented outcome for every example', async () => {
    const { peildatum, rows } = await readExtract(await demoExtract());
    expect(peildatum).toBe(demoPeildatum);
    for (const { postcode, huisnummer, toevoeging = null, status } of demoExamples) {
      const key = addressKey({ postcode, huisnummer, toevoeging });
      const found = rows.filter((row) => row.key === key).map(({ straat, woonplaats }) => `${straat}, ${woonplaats}`);
      const outcome = ['not_found', 'ok', 'ambiguous'][Math.min(new Set(found).size, 2)];
      expect({ key, outcome }).toEqual({ key, outcome: status });
    }
  });

  it('has the same bytes every time', async () => {
    expect((await demoExtract()).equals(await demoExtract())).toBe(true);
  });
});
