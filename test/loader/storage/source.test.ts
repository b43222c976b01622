import { describe, expect, it } from '@jest/globals';
import { httpSource } from '../../../loader/storage/http-source.ts';
import { connectionError, inTime, SourceTooSlowError } from '../../../loader/storage/source.ts';
import { freePort } from '../../support/free-port.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const server = startForTests(() => startHttpServer(() => undefined));

const elsewhere = ', or download the file in another way and load that.';

describe('an unreachable source reports the host, the reason and what to do', () => {
  it('an unknown host name', async () => {
    await expect(
      httpSource('http://no-such-host.invalid/x.zip', undefined, { pause: 1 }),
    ).rejects.toMatchObject({
      name: 'SourceUnavailableError',
      message: expect.stringMatching(
        /^no-such-host\.invalid could not be resolved: host not found \(getaddrinfo E\w+ no-such-host\.invalid\)\. Check the URL/,
      ),
    });
  });

  it('no listening server', async () => {
    const port = await freePort();
    await expect(
      httpSource(`http://127.0.0.1:${port}/x.zip`, undefined, { pause: 1 }),
    ).rejects.toMatchObject({
      name: 'SourceUnavailableError',
      message:
        `127.0.0.1:${port} refused the connection (connect ECONNREFUSED 127.0.0.1:${port}). Check the URL ` +
        `and its port, or try again later${elsewhere}`,
    });
  });

  it('a server without TLS for an https URL, which is not retried', async () => {
    const before = performance.now();
    await expect(
      httpSource(server.url.replace('http', 'https'), undefined, { pause: 60_000 }),
    ).rejects.toMatchObject({
      name: 'SourceError',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+ failed the TLS handshake \([^\n]+\)\. Check the URL/,
      ),
    });
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it('an invalid URL', async () => {
    await expect(httpSource('http://[/x.zip', undefined, { pause: 60_000 })).rejects.toMatchObject({
      name: 'SourceError',
      message: expect.stringMatching(/^http:\/\/\[\/x\.zip is not a valid URL \(/),
    });
  });

  it('a server that is silent for too long', async () => {
    await expect(httpSource(server.url, undefined, { pause: 1, idle: 5 })).rejects.toMatchObject({
      name: 'SourceUnavailableError',
      message: expect.stringMatching(
        /^127\.0\.0\.1:\d+ did not respond in time \(no data for 0\.005 s\)\. Try again later/,
      ),
    });
  });

  const failed = (cause: Error) => Object.assign(new TypeError('fetch failed'), { cause });
  const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

  it.each([
    ['CERT_HAS_EXPIRED', 'certificate has expired'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames"],
  ])('an invalid certificate, which is permanent: %s', (code, message) => {
    const error = connectionError('https://pdok.example/x.zip', failed(coded(code, message)));
    expect(error.name).toBe('SourceError');
    expect(error.message).toContain(`pdok.example failed the TLS handshake (${message}).`);
  });

  it.each([
    [
      'UND_ERR_CONNECT_TIMEOUT',
      'Connect Timeout Error',
      'did not respond in time (Connect Timeout Error)',
    ],
    ['UND_ERR_SOCKET', 'other side closed', 'could not be read (other side closed)'],
    [
      'ENETUNREACH',
      'connect ENETUNREACH 192.0.2.1:443',
      'could not be read (connect ENETUNREACH 192.0.2.1:443)',
    ],
  ])('a transient error: %s', (code, message, says) => {
    const error = connectionError('https://pdok.example:8443/x.zip', failed(coded(code, message)));
    expect(error.name).toBe('SourceUnavailableError');
    expect(error.message).toContain(`pdok.example:8443 ${says}.`);
  });

  it('a host of several addresses, of which none answers', () => {
    const errors = ['::1', '127.0.0.1'].map((address) =>
      coded('ECONNREFUSED', `connect ECONNREFUSED ${address}:443`),
    );
    const error = connectionError('https://localhost/x.zip', failed(new AggregateError(errors)));
    expect(error.message).toContain(
      'localhost refused the connection (connect ECONNREFUSED ::1:443, connect ECONNREFUSED 127.0.0.1:443).',
    );
  });
});

describe('work within the time limit of a step', () => {
  const tooLate = () => new Error('too late');
  const never = new Promise<never>(() => undefined);

  it('ends with an error that says what to do, shortly before the step would be stopped', async () => {
    await expect(inTime(never, 45_001, tooLate)).rejects.toThrow('too late');
    const { message } = new SourceTooSlowError({
      location: 'https://a.nl/b.zip',
      size: 4e6,
      etag: null,
      lastModified: null,
    });
    expect(message).toMatch(
      /no member of its 4 MB arrived .* load run --extract FILE --stage NAME\.$/,
    );
  });

  it('passes on its result or its own error, also without a limit', async () => {
    for (const limit of [3_600_000, Number.POSITIVE_INFINITY]) {
      expect(await inTime(Promise.resolve(1), limit, tooLate)).toBe(1);
      await expect(inTime(Promise.reject(new Error('gone')), limit, tooLate)).rejects.toThrow(
        'gone',
      );
    }
  });
});
