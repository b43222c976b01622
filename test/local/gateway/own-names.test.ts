import { describe, expect, it } from '@jest/globals';
import { refuseForeignName } from '../../../local/gateway/own-names.ts';

const here = { host: '127.0.0.1' };
const everywhere = { host: '0.0.0.0', allowedHosts: ['adres.lan'] };

describe('a server', () => {
  it.each([
    [here, 'localhost localhost:3000 LocalHost:8080 127.0.0.1:3000 [::1]:3000 [::1]'],
    [everywhere, 'localhost:8080 192.168.1.5:3000 [fd00::5]:3000 adres.lan Adres.lan:8080'],
    [{ host: 'my-machine' }, 'my-machine:3000'],
  ])('at %j answers under each of its names: %s', (own, names) => {
    for (const name of names.split(' ')) {
      expect([name, refuseForeignName(name, own)]).toEqual([name, undefined]);
    }
  });

  it.each([
    [here, 'evil.example evil.example:3000 adres.lan 192.168.1.5'],
    [
      everywhere,
      'evil.example localhost.evil.example 127.0.0.1.evil.example:3000 [::1].evil.example other.adres.lan',
    ],
    [everywhere, 'evil.example:x@localhost localhost:x@evil.example x@localhost '],
  ])('at %j refuses requests to others, or to none: %s', (own, names) => {
    for (const name of names.split(' ')) {
      expect([name, refuseForeignName(name, own)?.statusCode]).toEqual([name, 421]);
    }
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
