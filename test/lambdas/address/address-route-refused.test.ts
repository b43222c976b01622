import { beforeAll, describe, expect, it } from '@jest/globals';
import { grownIn, rowsOf } from '../../support/hostile-rows.ts';
import { inSweep } from '../../support/in-sweep.ts';
import type { RefusedWork } from '../../support/refused-work.ts';
import { stubbedRoute } from '../../support/stubbed-route.ts';

/** Blocks of our code and characters in patterns, for each byte that arrives. */
const mostWorkPerByte = 25;

/** Patterns are loaded and compiled at the first use; below this, growth says nothing. */
const leastForGrowth = 20_000;

describe('the work of refusing a hostile request', () => {
  let rows: RefusedWork[];

  beforeAll(() => {
    rows = rowsOf('refused-work.ts', '150');
  });

  inSweep('is counted, and is more than nothing', () => {
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter(({ work }) => work > leastForGrowth).length).toBeGreaterThan(20);
  });

  inSweep('is bounded by the bytes that arrive', () => {
    const most = 64 * 1024 * mostWorkPerByte;
    expect(rows.filter(({ work }) => work > most)).toEqual([]);
  });

  inSweep('at most doubles, and a little, when the request is twice as large', () => {
    expect(new Set(rows.map(({ kind }) => kind)).size).toBe(rows.length / 2);
    expect(grownIn(rows, leastForGrowth)).toEqual([]);
  });

  inSweep(
    'applies no pattern to a long text that can begin at every character and go on without end',
    () => {
      const used = new Set(rows.flatMap(({ longUses }) => longUses.map(({ pattern }) => pattern)));
      expect(used.size).toBeGreaterThan(2);
      const unbounded = /[*+]|\{\d+,\}/;
      const slow = [...used].filter(
        (pattern) =>
          !pattern.startsWith('^') && unbounded.test(pattern.replace(/(?:[*+]|\{\d+,\})$/, '')),
      );
      expect(slow).toEqual([]);
    },
  );
});

describe('a refusal', () => {
  const { key, send } = stubbedRoute();
  const post = (body: unknown) =>
    send('/v1/addresses', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const address = { postcode: '1381AA', huisnummer: 9 };
  type Problem = { detail: string; errors: { pointer: string; code: string; detail: string }[] };
  const problem = ({ body = '' }: { body?: string }): Problem => JSON.parse(body);

  it('lists a hundred faults, and says that there are more', async () => {
    const errorsOf = async (count: number) =>
      problem(await post({ addresses: [address], include: Array(count).fill('x') }));
    const most = await errorsOf(100);
    expect(most.errors).toHaveLength(100);
    expect(most.detail).not.toContain('there are');
    const more = await errorsOf(101);
    expect(more.errors).toEqual(most.errors);
    expect(more.detail).toMatch(/ These are the first 100: there are more\.$/);
  });

  it.each([
    ['toevoeging', 200, 'toevoeging-too-long'],
    ['toevoeging', 201, 'value-too-long'],
    ['huisnummer', 201, 'value-too-long'],
    ['postcode', 201, 'value-too-long'],
  ])('of a %s with %i characters, among any spaces, is %s', async (name, length, code) => {
    const value = '1'.repeat(length).split('').join('   ');
    const { errors } = problem(await post({ addresses: [{ ...address, [name]: value }] }));
    const { statusCode, body = '' } = await send(
      `/v1/address?${new URLSearchParams({ ...address, huisnummer: '9', [name]: value })}`,
      { headers: { 'x-api-key': key } },
    );
    expect(errors).toMatchObject([{ pointer: `/addresses/0/${name}`, code }]);
    expect([statusCode, JSON.parse(body).errors]).toMatchObject([422, [{ parameter: name, code }]]);
  });

  it('never follows from spaces: they are removed, however many, and nothing is cut', async () => {
    const spaces = ' '.repeat(20_000);
    const toevoeging = `A${' '.repeat(199)}BBBB`;
    const postcode = `${spaces}13${spaces}81AA`;
    const { statusCode, body = '' } = await post({
      addresses: [{ ...address, postcode, toevoeging }],
    });
    expect([statusCode, JSON.parse(body).results[0].request]).toEqual([
      200,
      { ...address, toevoeging: 'ABBBB' },
    ]);
  });

  it.each(['postcode', 'huisnummer', 'toevoeging'])(
    'of a %s that is nested as deep as a body can be is its type',
    async (name) => {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const depth = Math.floor(60_000 / (open.length + close.length));
        const value = `${open.repeat(depth)}0${close.repeat(depth)}`;
        const text = JSON.stringify({ addresses: [{ ...address, [name]: 0 }] });
        const answered = await post(text.replace(`"${name}":0`, `"${name}":${value}`));
        expect([answered.statusCode, problem(answered).errors]).toMatchObject([
          422,
          [{ pointer: `/addresses/0/${name}`, code: 'member-type' }],
        ]);
      }
    },
  );

  it('removes a key from a name before it cuts the name', async () => {
    const name = `${'x'.repeat(20)} ${key}`;
    const { errors } = problem(await post({ addresses: [{ ...address, [name]: 1 }] }));
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      `/addresses/0/${'x'.repeat(20)} bagadres_... misplaced-key`,
    ]);
  });

  it('names a deep member by what is around it, and no name with more than 40 characters', async () => {
    const long = 'n'.repeat(100);
    const deep = { a: { [long]: { b: 1 } } };
    const body = JSON.stringify({ addresses: [{ ...address, [long]: 1, deep }] });
    const { errors } = problem(await post(body.replace('"b":1', '"b":1,"b":2')));
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      `/addresses/0/${'n'.repeat(40)} unknown-member`,
      '/addresses/0/deep unknown-member',
      '/addresses/0/deep/a duplicate',
    ]);
    expect(errors[0]?.detail).toContain('this name is unknown');
  });
});
