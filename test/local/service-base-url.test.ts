import { describe, expect, it } from '@jest/globals';
import { baseUrl } from '../../local/service.ts';

describe('the printed address', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:3000'],
    ['localhost', 'http://localhost:3000'],
    ['0.0.0.0', 'http://127.0.0.1:3000'],
    ['::', 'http://[::1]:3000'],
    ['::1', 'http://[::1]:3000'],
  ])('reaches a server on %s', (host, url) => {
    expect(baseUrl(host, 3000)).toBe(url);
  });
});
