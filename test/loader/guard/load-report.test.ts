import { describe, expect, it } from '@jest/globals';
import { refusalText } from '../../../loader/guard/load-report.ts';

describe('the text of a refusal', () => {
  it('has a line for each reason, the one that decides first, then both commands on what was seen', () => {
    const objections = [
      { code: 'other_area', message: 'the extract covers another area' },
      { code: 'too_many_removed', message: 'it would remove 44 addresses' },
    ];
    const refused = {
      load: '2026-03-08-0123456789',
      peildatum: '2026-03-08',
      proposal: 'abc',
      objections,
    };
    expect(refusalText(refused, ' --stage prod').split('\n')).toEqual([
      'The load of 2026-03-08 is refused; nothing was written:',
      '  - the extract covers another area',
      '  - it would remove 44 addresses',
      'If this is right: "npx bag-adres load approve 2026-03-08-0123456789 --proposal abc --stage prod"',
      'If it is wrong:   "npx bag-adres load reject 2026-03-08-0123456789 --proposal abc --stage prod"',
    ]);
  });
});
