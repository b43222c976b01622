import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ManifestEntry } from '../../loader/dataset/load.ts';
import { providerFault } from '../../portal/stack/portal-names.ts';
import { everything, portal, propertiesOf, templates } from '../lib/synthesized.ts';
import {
  type AddressService,
  newAccount,
  startAddressService,
} from '../support/address-service.ts';

/**
 * The queries that the runbook names, by chapter: query *Outcomes*. The first chapter is a table of
 * the others.
 */
const documented = readFileSync('docs/runbook.md', 'utf8')
  .split(/^## /m)
  .slice(2)
  .flatMap((chapter) => {
    const [heading] = chapter.split('\n', 1);
    return [...chapter.matchAll(/\bquery\s+\*([^*]+)\*/gi)].map(
      ([, name]) => `bag-adres-trial/${heading}/${name}`,
    );
  });

/** A saved query: what it reads, of which log groups by logical id. */
type SavedQuery = { name: string; query: string; groups: string[] };

async function savedQueries(): Promise<SavedQuery[]> {
  const { all } = await templates({ ...everything, portal });
  return Object.values(all).flatMap((template) =>
    propertiesOf(template, 'AWS::Logs::QueryDefinition').map(
      ({ Name, QueryString, LogGroupNames }) => ({
        name: String(Name),
        query: String(QueryString),
        groups: (LogGroupNames as { Ref: string }[]).map(({ Ref }) => Ref),
      }),
    ),
  );
}

/** Lambda's own lines in JSON, as its documents have them. */
const platformFields = ['type', 'record.status', 'record.errorType'];
const builtIn = ['@timestamp', '@message'];
const words = new Set([
  ...'filter stats sort limit display fields by as desc asc and or not like in'.split(' '),
  ...'count max min avg sum pct bin ispresent'.split(' '),
]);

/**
 * The fields that a query reads; names that it gives to results itself, literals and functions
 * aside.
 */
function fieldsOf(query: string): string[] {
  const given = new Set([...query.matchAll(/\bas (\w+)/g)].map(([, name]) => name));
  const bare = query
    .replace(/"[^"]*"/g, ' ')
    .replace(/like \/[^/]*\//g, 'like')
    .replace(/\b\d+[a-z]?\b/g, ' ');
  return [...bare.matchAll(/[@a-z_][\w.]*/gi)]
    .map(([name]) => name)
    .filter((name) => !words.has(name) && !given.has(name));
}

type Line = Record<string, unknown>;

/** The value at a path, `error.cause.name` for instance. */
function valueAt(line: Line, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Line | undefined)?.[name] ?? undefined, line);
}

/** Whether a line meets a condition such as `level = "ERROR"`. @throws Error for another form */
function meets(line: Line, condition: string): boolean {
  const [, present] = /^ispresent\((.+)\)$/.exec(condition) ?? [];
  if (present) return valueAt(line, present) !== undefined;
  const [, path = '', operator, literal = ''] =
    /^(\S+) (=|>=|like) (.+)$/.exec(condition.trim()) ?? [];
  const value = valueAt(line, path);
  if (operator === 'like') return new RegExp(literal.slice(1, -1)).test(String(value));
  if (operator === '=') return value === JSON.parse(literal);
  if (operator === '>=') return Number(value) >= Number(literal);
  throw new Error(`No rule for the condition ${condition}.`);
}

/** The lines that a query takes. */
function linesFor(query: string, lines: readonly Line[]): Line[] {
  const conditions = query
    .split(' | ')
    .flatMap((command) => /^filter (.+)$/.exec(command)?.[1] ?? []);
  return lines.filter((line) =>
    conditions.every((condition) =>
      condition
        .split(' or ')
        .some((either) => either.split(' and ').every((one) => meets(line, one))),
    ),
  );
}

/** A line that Lambda writes itself, as AWS documents it. */
const platformLine: Line = {
  type: 'platform.report',
  record: { status: 'error', errorType: 'Runtime.ExitError' },
};

/** Each path in an object, `error.cause.name` for instance. */
function pathsOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(path ? [path] : []),
    ...pathsOf(inner, path ? `${path}.${name}` : name),
  ]);
}

describe('a saved query', () => {
  let queries: SavedQuery[];
  let service: AddressService;
  let requestLines: Line[];
  let logged: { requests: string[]; access: string[]; steps: string[] };

  beforeAll(async () => {
    queries = await savedQueries();
    service = await startAddressService();
    const { key } = await newAccount(service, { day: 2 });
    const env = {
      ...process.env,
      POWERTOOLS_METRICS_DISABLED: 'false',
      POWERTOOLS_LOG_LEVEL: 'DEBUG',
    };
    const run = (...args: string[]) => spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const parsedOf = ({ stdout, stderr }: ReturnType<typeof run>): Line[] =>
      `${stdout}\n${stderr}`
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
    const linesOf = (ran: ReturnType<typeof run>) => parsedOf(ran).flatMap((line) => pathsOf(line));
    const [stage] = propertiesOf((await templates()).service, 'AWS::ApiGatewayV2::Stage');
    const settings = stage?.AccessLogSettings as { Format: string } | undefined;
    // A step without its settings fails before any call, and logs it.
    const step = `
      process.env.ADDRESSES_TABLE = 'addresses';
      const { handler } = await import('./loader/steps/mutate.ts');
      await handler({ load: 'some load', owner: 'any' }).catch(() => undefined);`;
    // What Publish returns of an audit, as its type has it: the audit itself needs two extracts and
    // the days between them.
    const audited: Required<Pick<ManifestEntry, 'peildatum' | 'audit'>> = {
      peildatum: '2026-01-08',
      audit: { added: 1, changed: 0, removed: 0 },
    };
    requestLines = parsedOf(run('test/support/lookup-log.ts', service.endpoint, key));
    logged = {
      requests: requestLines.flatMap((line) => pathsOf(line)),
      access: Object.keys(JSON.parse(settings?.Format ?? '{}')),
      steps: [...linesOf(run('--input-type=module', '-e', step)), ...pathsOf({ result: audited })],
    };
  });
  afterAll(() => service.stop());

  it('exists, and so do the log lines that it reads', () => {
    expect(queries.length).toBeGreaterThan(10);
    for (const fields of Object.values(logged)) expect(fields.length).toBeGreaterThan(4);
  });

  it('reads fields that are logged', () => {
    for (const { name, query, groups } of queries) {
      const all = groups.join(' ');
      const known = /AccessLog/.test(all)
        ? logged.access
        : /Steps/.test(all)
          ? [...logged.steps, ...platformFields]
          : [
              ...logged.requests,
              ...(/Portal/.test(all) ? [providerFault.member, 'error'] : []),
              ...platformFields,
            ];
      expect([
        name,
        fieldsOf(query).filter((field) => ![...known, ...builtIn].includes(field)),
      ]).toEqual([name, []]);
      for (const command of query.split(/ \| /)) {
        expect(command).toMatch(/^(?:filter|stats|sort|limit|display|fields) \S/);
      }
    }
  });

  it('finds lines of its incident among those that the functions of the API write, with every field', () => {
    const lines = [...requestLines, platformLine];
    const checked = queries.filter(({ groups }) =>
      groups.every((group) => /^(?:Address|Validate)/.test(group)),
    );
    expect(checked.length).toBeGreaterThan(8);
    for (const { name, query } of checked) {
      const found = linesFor(query, lines);
      const missing = fieldsOf(query)
        .filter((field) => !builtIn.includes(field))
        .filter((field) => !found.some((line) => valueAt(line, field) !== undefined));
      expect([name, found.length > 0, missing]).toEqual([name, true, []]);
    }
  });

  it('by account counts a request that is refused for its key or for its quota', () => {
    const by = (name: string) => {
      const query = queries.find((one) => one.name.endsWith(name))?.query ?? '';
      return linesFor(query, requestLines).filter(({ account }) => account);
    };
    expect(by('Refused keys/Accounts')).not.toEqual([]);
    expect(by('Charges with unknown outcome/Accounts')).not.toEqual([]);
    const busiest = by('Procedures/Busiest accounts').map(({ outcome }) => outcome);
    expect(busiest).toEqual(expect.arrayContaining(['ok', 'quota-exceeded', 'unauthorized']));
  });

  it('is named in its chapter of the runbook, and the runbook names no other', () => {
    expect([...new Set(documented)].sort()).toEqual(queries.map(({ name }) => name).sort());
  });

  it('has a name that CloudWatch accepts and no other has', () => {
    const names = queries.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[^:*/]+\/[^:*/]+\/[^:*/]+$/);
  });

  it('is not there for what is not deployed', async () => {
    const { service, loader } = await templates();
    const names = [service, loader].flatMap((template) =>
      propertiesOf(template, 'AWS::Logs::QueryDefinition').map(({ Name }) => String(Name)),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => /Canary|Audit|Portal/.test(name))).toEqual([]);
  });
});
