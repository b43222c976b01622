import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { explainError, explainLoadError } from '../../../operator/deployment/errors.ts';

const root = resolve(import.meta.dirname, '../../..');
const coded = (code: string, message: string, more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });

it('every error of the loader has a code of its own', () => {
  const sources = globSync('loader/**/*.ts', { cwd: root }).map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const names = sources.flatMap((text) =>
    [...text.matchAll(/^(?:export class | {2}\| ')(\w+Error)\b/gm)].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(15);
  // Of these, what is thrown has a name of its own.
  const general = ['LoadError', 'UnusableObjectError'];
  const withoutCode = names.filter(
    (name = '') => !general.includes(name) && !explainLoadError(name, ''),
  );
  expect(withoutCode).toEqual([]);
});

describe('an error that a command does not expect', () => {
  it.each([
    [
      'a refused connection',
      coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'),
      /connect ECONNREFUSED/,
    ],
    ['attempts on several addresses', coded('ECONNREFUSED', ''), /connect: ECONNREFUSED/],
    [
      'a host without an address',
      coded('ENOTFOUND', 'getaddrinfo ENOTFOUND dynamodb.nowhere', {
        hostname: 'dynamodb.nowhere',
      }),
      /^Can't connect: host not found: dynamodb\.nowhere\. Check the connection, then run the command again\.$/,
    ],
  ])('is a connection problem: %s', (_, error, message) => {
    expect(explainError(error)).toEqual({
      code: 'unreachable',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    [{ stage: 'prod' }, /^Can't connect to AWS for --stage prod: connect [^"]+$/],
    [{ local: true as const }, /^Can't connect to "npm start": connect .* still runs/],
    [{}, /^Can't connect: connect [^"]+ Check the connection, then run the command again\.$/],
  ])('names the place that was typed, and no other: %o', (place, message) => {
    const refused = coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1');
    expect(explainError(refused, place).message).toMatch(message);
    const fault = Object.assign(new Error('no'), { name: 'InternalServerError' });
    expect(explainError(fault, place).message.includes('npm start')).toBe('local' in place);
    const unsigned = Object.assign(new Error('no'), { name: 'CredentialsProviderError' });
    expect(explainError(unsigned, place).message).toContain(
      'stage' in place ? 'use --local instead of --stage prod' : 'add --local',
    );
  });

  it('does not suspect npm start behind an extract elsewhere', () => {
    const error = coded('ENOTFOUND', 'getaddrinfo', { hostname: 'extracts.example.nl' });
    expect(explainError(error, { local: true }).message).not.toContain('npm start');
  });

  it.each([
    ['a number out of range', coded('ERR_OUT_OF_RANGE', 'The value of "size" is out of range')],
    ['a pipe in the file system', coded('EPIPE', 'broken pipe', { path: '/x' })],
    ['a folder that is there already', coded('EEXIST', 'file already exists')],
  ])('is not a connection problem: %s', (_, error) => {
    expect(explainError(error)).toEqual({ code: 'failed', message: error.message });
  });
});

describe('an error that AWS answers', () => {
  const answered = (name: string, message: string, httpStatusCode = 400) =>
    Object.assign(new Error(message), { name, $metadata: { httpStatusCode } });

  it.each([
    'ThrottlingException',
    'ProvisionedThroughputExceededException',
    'RequestLimitExceeded',
    'TooManyRequestsException',
    'SlowDown',
  ])('because of too many requests says to wait, not what AWS writes: %s', (name) => {
    const raw = 'The level of configured provisioned throughput for the table was exceeded.';
    const { code, message } = explainError(answered(name, raw));
    expect([code, message]).toEqual([
      'aws_throttled',
      expect.stringMatching(
        /^AWS throttles the requests \(\w+\).*Wait a minute and run the command again/,
      ),
    ]);
    expect(message).not.toContain('configured');
  });

  it.each([
    ['InternalServerError', 500],
    ['InternalError', 500],
    ['ServiceUnavailable', 503],
    ['ANewFault', 502],
  ])('because of a fault of its own says to run the command again: %s', (name, status) => {
    expect(explainError(answered(name, 'no', status))).toEqual({
      code: 'aws_fault',
      message: expect.stringMatching(new RegExp(`failed with ${name}.*Run the command again`)),
    });
  });

  it('and that has no explanation here is named, with its message', () => {
    const { code, message } = explainError(answered('ValidationException', 'no such index'));
    expect([code, message]).toEqual([
      'aws_refused',
      'AWS refused the request (ValidationException): no such index',
    ]);
    expect(explainError(answered('Odd', '')).message).toBe(
      'AWS refused the request (Odd): without a reason',
    );
    expect(explainError(answered('SomeThrottle', '', 429)).code).toBe('aws_throttled');
  });
});

it.each(['EACCES', 'EPERM', 'EROFS'])(
  'an error names an inaccessible file or folder, and what to do: %s',
  (code) => {
    const error = coded(code, `${code}: read-only file system, open '/x/lock'`, {
      path: '/x/lock',
    });
    expect(explainError(error)).toEqual({
      code: 'no_file_access',
      message: expect.stringMatching(
        /^\/x\/lock can't be read or written by you \(E\w+\)\. Use the account that runs npm start/,
      ),
    });
  },
);

it('an error is reported without the API keys in it', () => {
  const { key } = issueApiKey('demo', 'any secret');
  for (const error of [
    new TypeError(`"${key}" is an invalid header value.`),
    key,
    coded('ECONNREFUSED', key),
  ]) {
    expect(explainError(error).message).toContain('bagadres_...');
    expect(explainError(error).message).not.toContain(key.slice(-35));
  }
});
