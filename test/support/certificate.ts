import { generateKeyPairSync, sign } from 'node:crypto';

/** One element of DER: its tag, the length, the contents. */
function der(tag: number, ...parts: (Uint8Array | number[])[]): Buffer {
  const contents = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const { length } = contents;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), contents]);
}

const sequence = (...parts: (Uint8Array | number[])[]) => der(0x30, ...parts);
const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`));

/** A certificate that signs itself, for one host name (X.509, RFC 5280), made anew so that no private key is stored. */
export function selfSigned(host: string, ends: Date): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(der(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])); // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(der(0x06, [0x55, 0x04, 0x03]), der(0x0c, Buffer.from(host)))));
  const alternative = der(0x04, sequence(der(0x82, Buffer.from(host))));
  const extensions = der(0xa3, sequence(sequence(der(0x06, [0x55, 0x1d, 0x11]), alternative)));
  const begins = new Date('2020-01-01T00:00:00Z');
  const body = sequence(
    der(0xa0, der(0x02, [2])), // version 3
    der(0x02, [1]),
    algorithm,
    name,
    sequence(time(begins), time(ends)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions,
  );
  const signature = der(0x03, [0], sign('sha256', body, privateKey));
  const base64 =
    sequence(body, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  const cert = ['-----BEGIN CERTIFICATE-----', ...base64, '-----END CERTIFICATE-----', ''].join('\n');
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
