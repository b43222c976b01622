import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ManifestEntry } from '../../loader/dataset/load.ts';
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

/** Fields of every line in Logs Insights. */
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
  // Logs Insights compares the text "401" with a number too.
  if (operator === '=') return String(value) === String(JSON.parse(literal));
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

/** The values that API Gateway documents for the variables of an access log; `-` if it has none. */
const gatewayValues: Line = {
  '$context.requestId': 'JKJaXmPLvHcESHA=',
  '$context.identity.sourceIp': '192.0.2.1',
  '$context.routeKey': 'ANY /v1/address',
  '$context.path': '/v1/address',
  '$context.status': '200',
  '$context.responseLength': '120',
  '$context.responseLatency': '12',
  '$context.integrationLatency': '10',
  '$context.error.responseType': '-',
  '$context.integration.integrationStatus': '200',
};
const gatewayIncidents: Line[] = [
  { '$context.status': '401' },
  { '$context.status': '429', '$context.error.responseType': 'THROTTLED' },
  { '$context.status': '503', '$context.error.responseType': 'INTEGRATION_FAILURE' },
];

/** The lines of an access log in this format. @throws Error for a variable without a value */
function accessLines(format: string): Line[] {
  return gatewayIncidents.map((incident) => {
    const values = { ...gatewayValues, ...incident };
    const named = Object.entries(JSON.parse(format) as Record<string, string>);
    return Object.fromEntries(
      named.map(([name, variable]) => {
        if (!(variable in values)) throw new Error(`No value for ${variable}.`);
        return [name, values[variable]];
      }),
    );
  });
}

/** The functions of each log group, by its logical id; the first name that fits counts. */
const kinds = {
  access: /AccessLog/,
  'portal-canary': /^MonitoringCanary/,
  canary: /^Canary/,
  portal: /^Portal/,
  step: /^Steps/,
  requests: /^(?:Address|Validate)/,
};
type Kind = keyof typeof kinds;

function kindOf(group: string): Kind {
  const [found] = Object.entries(kinds).find(([, names]) => names.test(group)) ?? [];
  if (!found) throw new Error(`No lines for the log group ${group}.`);
  return found as Kind;
}

describe('a saved query', () => {
  let queries: SavedQuery[];
  let service: AddressService;
  let lines: Record<Kind, Line[]>;

  beforeAll(async () => {
    queries = await savedQueries();
    service = await startAddressService();
    const { key } = await newAccount(service, { day: 2 });
    const env = {
      ...process.env,
      POWERTOOLS_METRICS_DISABLED: 'false',
      POWERTOOLS_LOG_LEVEL: 'DEBUG',
    };
    const linesOf = (...args: string[]): Line[] => {
      const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
      return `${stdout}\n${stderr}`
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
    };
    const failing = (name: string) => linesOf('test/support/failing-function.ts', name);
    const { all } = await templates({ ...everything, portal });
    const formats = Object.values(all)
      .flatMap((template) => propertiesOf(template, 'AWS::ApiGatewayV2::Stage'))
      .map(({ AccessLogSettings }) => (AccessLogSettings as { Format: string }).Format);
    // What Publish returns of an audit, as its type has it: the audit itself needs two extracts and
    // the days between them.
    const audited: Required<Pick<ManifestEntry, 'peildatum' | 'audit'>> = {
      peildatum: '2026-01-08',
      audit: { added: 1, changed: 0, removed: 0 },
    };
    lines = {
      access: formats.flatMap(accessLines),
      canary: failing('canary'),
      portal: failing('portal'),
      'portal-canary': failing('portal-canary'),
      step: [...failing('step'), { message: 'done', result: audited }],
      requests: linesOf('test/support/lookup-log.ts', service.endpoint, key),
    };
  });
  afterAll(() => service.stop());

  it('exists, and so do lines of every log that it reads', () => {
    expect(queries.length).toBeGreaterThan(10);
    const read = new Set(queries.flatMap(({ groups }) => groups.map(kindOf)));
    expect([...read].toSorted()).toEqual(Object.keys(kinds).toSorted());
    for (const some of Object.values(lines)) expect(some.length).toBeGreaterThan(0);
  });

  it('has commands that Logs Insights knows', () => {
    for (const { query } of queries) {
      for (const command of query.split(/ \| /)) {
        expect(command).toMatch(/^(?:filter|stats|sort|limit|display|fields) \S/);
      }
    }
  });

  it('finds lines of its incident among those that its functions write, with every field', () => {
    for (const { name, query, groups } of queries) {
      const written = [...new Set(groups.map(kindOf))].flatMap((kind) => lines[kind]);
      const found = linesFor(query, [...written, platformLine]);
      const missing = fieldsOf(query)
        .filter((field) => !builtIn.includes(field))
        .filter((field) => !found.some((line) => valueAt(line, field) !== undefined));
      expect([name, found.length > 0, missing]).toEqual([name, true, []]);
    }
  });

  it('is not alone: a metric filter reads fields of a function that the alarm is about, too', async () => {
    const { all } = await templates({ ...everything, portal });
    const filters = Object.values(all)
      .flatMap((template) => propertiesOf(template, 'AWS::Logs::MetricFilter'))
      .map(({ LogGroupName, FilterPattern }) => ({
        group: (LogGroupName as { Ref: string }).Ref,
        fields: [...String(FilterPattern).matchAll(/\$\.([\w.]+)/g)].map(([, name = '']) => name),
      }));
    // The other is of the state machine, whose states `state-machine-faults` enters.
    const ofFunctions = filters.filter(({ group }) => !/^LoadLogs/.test(group));
    expect([filters.length, ofFunctions.length]).toEqual([2, 1]);
    for (const { group, fields } of ofFunctions) {
      expect(fields).not.toEqual([]);
      for (const field of fields) {
        expect(lines[kindOf(group)].map((line) => valueAt(line, field))).not.toContain(undefined);
      }
    }
  });

  it('by account counts a request that is refused for its key or for its quota', () => {
    const by = (name: string) => {
      const query = queries.find((one) => one.name.endsWith(name))?.query ?? '';
      return linesFor(query, lines.requests).filter(({ account }) => account);
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
