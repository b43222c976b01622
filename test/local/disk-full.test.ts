import { describe, expect, it } from '@jest/globals';
import { explainError } from '../../bin/connect/errors.ts';
import { startErrorText } from '../../local/messages.ts';

const place = { host: '127.0.0.1', port: 3000, endpoint: undefined, dataFolder: '/home/me/.data' };
const coded = (code: string, message: string) => Object.assign(new Error(message), { code, path: '/home/me/.data/x' });

describe('a disk that is full', () => {
  it.each([
    ['in the words of Node', coded('ENOSPC', 'ENOSPC: no space left on device, write')],
    ['by the quota of a user', coded('EDQUOT', 'EDQUOT: disk quota exceeded, write')],
    ['in the words of the engine', new Error('Internal error: database or disk is full')],
  ])('is told with what to do, %s', (_, error) => {
    expect(startErrorText(error, place)).toBe(
      'The disk of /home/me/.data is full. Make room and start again, which goes on from here, or keep the data on another ' +
        'disk with --data FOLDER.',
    );
    expect(explainError(error)).toEqual({
      code: 'disk_full',
      message: expect.stringMatching(/^The disk is full\. Free/),
    });
  });

  it('is not what any other trouble with a file is, nor is that a trouble of the network', () => {
    const error = coded('EACCES', "EACCES: permission denied, open '/home/me/.data/x'");
    expect(startErrorText(error, place)).toContain('permission denied');
    expect(explainError(error)).toEqual({ code: 'failed', message: error.message });
  });
});
