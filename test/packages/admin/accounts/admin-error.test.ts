import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../../core/accounts/api-key.ts';
import {
  AdminError,
  type AdminErrorCode,
  type AdminRefusals,
  checkAccountId,
  checkDate,
  checkKeyId,
  checkLabel,
  checkLimits,
  checkOwnLimits,
  checkPerson,
  checkPlanCode,
  checkRole,
  checkToken,
  readExpiry,
} from '../../../../packages/admin/accounts/admin-error.ts';
import type { Admin } from '../../../../packages/admin/admin.ts';

type Calls = { [Group in keyof Admin]: `${Group}.${keyof Admin[Group] & string}` }[keyof Admin];

/** Does not compile unless the two are equal. */
function sameKeys<A extends B, B extends C, C = A>(): void {}
sameKeys<Calls, keyof AdminRefusals>();
sameKeys<AdminErrorCode, AdminRefusals[Calls]>();

describe('the messages of the admin module', () => {
  it('name no command, because portals show them too', () => {
    const sources = globSync('packages/admin/accounts/**/*.ts').map((file) =>
      readFileSync(file, 'utf8'),
    );
    const messages = sources.flatMap((source) =>
      [...source.matchAll(/(?:new AdminError|rule)\(([\s\S]*?)\);/g)].map(([, text]) => text),
    );
    expect(messages.length).toBeGreaterThan(20);
    expect(
      messages.filter((text) => /"(account|plan|key) [a-z-]+"|bag-adres|--\w/.test(String(text))),
    ).toEqual([]);
  });
});

/** Callers may not use TypeScript, so any value may arrive. */
type Check = (value: never) => void;

const now = Date.UTC(2026, 7, 1) / 1000;
const at = (seconds: number) => new Date(seconds * 1000);
const { key } = issueApiKey('acme', 'any');
const expiry: Check = (expires) => readExpiry(expires, now);
const whatChecks: [
  what: string,
  check: Check,
  rule: RegExp,
  accepted: unknown[],
  refused: unknown[],
][] = [
  [
    'An account id',
    checkAccountId,
    /is 1 to 32 letters/,
    ['0', 'a'.repeat(32)],
    ['', 'a'.repeat(33), '-a', 'a#'],
  ],
  [
    'A plan code',
    checkPlanCode,
    /is 1 to 32 letters/,
    ['0', 'a'.repeat(32)],
    ['', 'a'.repeat(33), '-a', 'a#'],
  ],
  [
    'A key id',
    checkKeyId,
    /is 8 letters or digits/,
    ['0aZ9zA00'],
    ['0aZ9zA0', '0aZ9zA000', '0aZ9zA0_'],
  ],
  [
    'A label',
    checkLabel,
    /is 1 to 64 characters/,
    ['x', 'x'.repeat(64), '🔑'.repeat(64)],
    ['', ' ', 'x'.repeat(65), 'a\nb', '\u001b[31mred', 'a\u202eb', '\ud800'],
  ],
  [
    'An idempotency token',
    checkToken,
    /is 16 to 128 ASCII/,
    ['x'.repeat(16), 'x'.repeat(128)],
    ['x'.repeat(15), 'x'.repeat(129)],
  ],
  [
    'A key',
    expiry,
    /expires in the future, and before 2106/,
    [at(now + 1), at(2 ** 32 - 1)],
    [at(now), at(now + 0.999), at(2 ** 32)],
  ],
  [
    'A key',
    expiry,
    /expires at a Date, or at an instant like/,
    [at(now + 1), at(now + 1.999), '2027-01-31T12:00:00Z', '2027-01-31T12:00:00.250+01:00'],
    [new Date('never'), now + 1, '2027-01-31', '2027-02-31T99:00:00Z', 'tomorrow', null],
  ],
  [
    'from',
    (date) => checkDate(date, 'from'),
    /is a UTC date, for instance/,
    ['2026-11-21', '2024-02-29', '2000-01-01', '2099-12-31'],
    ['2026-11-21T00:00:00Z', '2026-02-29', '1999-12-31', '2100-01-01', '21-11-2026', '2026-11', ''],
  ],
  ['A role', checkRole, /is finance, viewer, admin/, ['finance', 'viewer', 'admin'], ['owner', '']],
  [
    'A member',
    checkPerson,
    /is an e-mail address of ASCII .* or "sub:"/,
    [`${'j'.repeat(64)}@${'x'.repeat(190)}`, 'j@x', `sub:${'1'.repeat(255)}`, 'sub:1'],
    [
      `${'j'.repeat(65)}@x`,
      `j@${'x'.repeat(191)}`,
      `sub:${'1'.repeat(256)}`,
      'sub:',
      '@x',
      'j@',
      'j#@x',
      ' j@x',
      'j@x\t',
      '\u00a0j@x',
      '\u212aim@x',
      'j@\u212a.nl',
      '"j j"@x',
      'sub:j@x y',
      'sub:\u212a',
      `sub:${key}`,
      ['j@x'],
    ],
  ],
  [
    'The limit of "day"',
    (day) => checkLimits({ day }),
    /is a whole number from 0 to 1000000000000, or unlimited/,
    [0, 1e12, null],
    [-1, 1e12 + 1, 0.5, Number.NaN, '5', true, undefined, 'plan'],
  ],
  [
    'The limit of "day"',
    (day) => checkOwnLimits({ day }),
    /is a whole number/,
    [0, 1e12, null, 'plan'],
    [-1, 1e12 + 1],
  ],
  [
    '"decade"',
    (limit) => checkLimits({ day: 1, decade: limit }),
    /use minute, hour, day, /,
    [],
    [1, null],
  ],
];

/** `'accepted'`, or the error of the check. */
function outcomeOf(check: Check, value: unknown): unknown {
  try {
    check(value as never);
    return 'accepted';
  } catch (error) {
    return error;
  }
}

describe('a check of input', () => {
  it.each(whatChecks)(
    '%s: accepts what the rule allows, to its limits, and refuses all else with the rule',
    (...row) => {
      const [what, check, rule, accepted, refused] = row;
      const refusal = expect.objectContaining({
        name: 'AdminError',
        code: 'invalid',
        message: expect.stringMatching(new RegExp(`^${what} .*${rule.source}`)),
      });
      expect(accepted.map((value) => outcomeOf(check, value))).toEqual(
        accepted.map(() => 'accepted'),
      );
      expect(refused.map((value) => outcomeOf(check, value))).toEqual(refused.map(() => refusal));
    },
  );

  it('refuses a label that holds an API key with its own message', () => {
    expect(() => checkLabel(`x ${key}`)).toThrow(/^A label looks like an API key/);
  });
});

describe('an AdminError', () => {
  it('has the key id and the subject that it was made with', () => {
    const error = new AdminError('not_found', 'x', { subject: 'key', keyId: 'a0000000' });
    expect(error).toMatchObject({
      code: 'not_found',
      message: 'x',
      subject: 'key',
      keyId: 'a0000000',
    });
  });
});
