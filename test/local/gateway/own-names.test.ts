import { describe, expect, it } from '@jest/globals';
import { refuseForeignName } from '../../../local/gateway/own-names.ts';

const here = { host: '127.0.0.1' };
const everywhere = { host: '0.0.0.0', allowedHosts: ['adres.lan'] };

describe('a server', () => {
  it.each([
    ['localhost', here],
    ['localhost:3000', here],
    ['LocalHost:8080', here],
    ['127.0.0.1:3000', here],
    ['[::1]:3000', here],
    ['[::1]', here],
    ['localhost:8080', everywhere],
    ['192.168.1.5:3000', everywhere],
    ['[fd00::5]:3000', everywhere],
    ['adres.lan', everywhere],
    ['Adres.lan:8080', everywhere],
    ['my-machine:3000', { host: 'my-machine' }],
  ])('answers under its name %s', (name, own) => {
    expect(refuseForeignName(name, own)).toBeUndefined();
  });

  it.each([
    ['evil.example', here],
    ['evil.example:3000', here],
    ['evil.example', everywhere],
    ['localhost.evil.example', everywhere],
    ['127.0.0.1.evil.example:3000', everywhere],
    ['evil.example:x@localhost', everywhere],
    ['x@localhost', everywhere],
    ['[::1].evil.example', everywhere],
    ['other.adres.lan', everywhere],
    ['adres.lan', here],
    ['192.168.1.5', here],
    ['', everywhere],
  ])('refuses a request to %j', (name, own) => {
    expect(refuseForeignName(name, own)?.statusCode).toBe(421);
  });

  it('says how a name can be allowed, where it can', () => {
    const detailFor = (name: string, own: Parameters<typeof refuseForeignName>[1]) =>
      JSON.parse(String(refuseForeignName(name, own)?.body)).detail;
    const sent = 'Send the request to localhost, or start the service with';
    expect(detailFor('api.lan:8080', everywhere)).toBe(`${sent} --allow-host api.lan.`);
    expect(detailFor('"; rm -rf /', everywhere)).toBe(`${sent} --allow-host NAME.`);
    expect(detailFor('api.lan', here)).toBe('Send the request to 127.0.0.1, with the same port.');
  });
});
