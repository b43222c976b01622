import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkCertificate, checkClientSecret } from '../../../operator/checks/check-deployment.ts';
import { selfSigned } from '../../support/certificate.ts';

const ends = new Date('2100-07-01T00:00:00Z');
const { cert, key } = selfSigned('localhost', ends);
const server = createServer({ cert, key });
let url: string;

beforeAll(async () => {
  server.listen(0);
  await once(server, 'listening');
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const daysBefore = (days: number) => ({ now: ends.getTime() - days * 86_400_000, ca: cert });

describe('checkCertificate', () => {
  it('says until when the certificate of a host name is valid', async () => {
    const found = { state: 'ok', found: 'localhost: valid until 2100-07-01' };
    expect(await checkCertificate(url, daysBefore(31))).toMatchObject(found);
  });

  it('warns 30 days before a certificate ends, which was not renewed then', async () => {
    const { state, found, advice } = await checkCertificate(url, daysBefore(29));
    expect([state, found]).toEqual(['warning', 'localhost: valid until 2100-07-01, 29 days']);
    expect(advice).toMatch(/ACM console/);
  });

  it('fails for a certificate that has ended, and for one that clients refuse', async () => {
    expect(await checkCertificate(url, daysBefore(-1))).toMatchObject({ state: 'failed' });
    const { state, found } = await checkCertificate(url);
    expect([state, found]).toEqual(['failed', expect.stringMatching(/refused by clients: .*SELF_SIGNED/i)]);
  });

  it('leaves the certificates of AWS to AWS', async () => {
    const aws = 'https://abc.execute-api.eu-central-1.amazonaws.com';
    expect(await checkCertificate(aws)).toMatchObject({ state: 'ok' });
  });
});

describe('checkClientSecret', () => {
  it.each([
    ['2026-12-02T00:00:00Z', 'ok', 'ends on 2027-01-31, in 60 days'],
    ['2026-12-02T00:00:01Z', 'warning', 'ends on 2027-01-31, in 59 days'],
    ['2027-02-01T00:00:00Z', 'failed', 'ends on 2027-01-31, 1 days ago'],
  ])('at %s is %s: 60 days before it warns', (now, state, found) => {
    expect(checkClientSecret('2027-01-31', Date.parse(now))).toMatchObject({ state, found });
  });
});
