import { expect, it } from '@jest/globals';
import { run } from '../command-line.ts';

it('load explain refuses what is no address with the sentences that a lookup answers', async () => {
  expect(await run(['load', 'explain', '0123AB', '0', '--local'])).toEqual({
    exit: 2,
    out: '',
    err: expect.stringMatching(
      /^bag-adres: postcode can't begin with 0: send .*\. huisnummer must be at least 1: send .*\.$/,
    ),
  });
});
