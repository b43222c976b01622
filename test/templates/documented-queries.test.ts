import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deploymentName, portalStackName } from '../../lib/config/deployment.ts';
import type { ManifestEntry } from '../../loader/dataset/load.ts';
import { providerFault } from '../../portal/stack/portal-names.ts';
import { runbookQueries } from '../lib/runbook-queries.ts';
import { everything, ofType, portal, type Template, templates } from '../lib/synthesized.ts';
import { type AddressService, newAccount, startAddressService } from '../support/address-service.ts';

const queries = runbookQueries();

/** Lambda's own lines in JSON, as its documents have them. */
const platformFields = ['type', 'record.status', 'record.errorType'];
const builtIn = ['@timestamp', '@message'];
const words = new Set([
  ...'filter stats sort limit display fields by as desc asc and or not like in'.split(' '),
  ...'count max min avg sum pct bin ispresent'.split(' '),
]);

/** The fields that a query reads; names that it gives to results itself, literals and functions aside. */
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

/** Each path in an object, `error.cause.name` for instance. */
function pathsOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(path ? [path] : []),
    ...pathsOf(inner, path ? `${path}.${name}` : name),
  ]);
}

describe('a log query of the runbook', () => {
  let service: AddressService;
  let logged: { requests: string[]; access: string[]; steps: string[] };

  beforeAll(async () => {
    service = await startAddressService();
    const { key } = await newAccount(service, { day: 2 });
    const env = { ...process.env, POWERTOOLS_METRICS_DISABLED: 'false', POWERTOOLS_LOG_LEVEL: 'DEBUG' };
    const run = (...args: string[]) => spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    const linesOf = ({ stdout, stderr }: ReturnType<typeof run>) =>
      `${stdout}\n${stderr}`
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .flatMap((line) => pathsOf(JSON.parse(line)));
    const [stage] = Object.values(ofType((await templates()).service, 'AWS::ApiGatewayV2::Stage'));
    const settings = stage?.Properties?.AccessLogSettings as { Format: string } | undefined;
    // A step without its settings fails before any call, and logs it.
    const step = `
      process.env.ADDRESSES_TABLE = 'addresses';
      const { handler } = await import('./loader/steps/mutate.ts');
      await handler({ load: 'some load', owner: 'any' }).catch(() => undefined);`;
    // What Publish returns of an audit, as its type has it: the audit itself needs two extracts and the days between
    // them.
    const audited: Required<Pick<ManifestEntry, 'peildatum' | 'audit'>> = {
      peildatum: '2026-01-08',
      audit: { added: 1, changed: 0, removed: 0 },
    };
    logged = {
      requests: linesOf(run('test/support/lookup-log.ts', service.endpoint, key)),
      access: Object.keys(JSON.parse(settings?.Format ?? '{}')),
      steps: [...linesOf(run('--input-type=module', '-e', step)), ...pathsOf({ result: audited })],
    };
  });
  afterAll(() => service.stop());

  it('exists, and so do the log lines that it reads', () => {
    expect(queries.length).toBeGreaterThan(10);
    for (const fields of Object.values(logged)) expect(fields.length).toBeGreaterThan(4);
  });

  it.each(queries)('reads fields that are logged: $query', ({ about, query }) => {
    const known = /\baccess log\b/.test(about)
      ? logged.access
      : /step's log group|`Steps\w+Logs`/.test(about)
        ? [...logged.steps, ...platformFields]
        : /portal's function/.test(about)
          ? [...logged.requests, providerFault.member, 'error', ...platformFields]
          : [...logged.requests, ...platformFields];
    expect(fieldsOf(query).filter((field) => ![...known, ...builtIn].includes(field))).toEqual([]);
  });

  it.each(queries)('has commands that Logs Insights knows: $query', ({ query }) => {
    for (const command of query.split(/ \| /))
      expect(command).toMatch(/^(?:filter|stats|sort|limit|display|fields) \S/);
  });
});

describe('the saved queries', () => {
  /** The log groups that the text before a query names. */
  const groupsFor = (about: string, chapter: string): RegExp => {
    if (chapter === 'Portal fails' && /canary/.test(about)) return /^MonitoringCanaryLogs/;
    if (chapter.startsWith('Portal') && /access log/.test(about)) return /^AccessLog/;
    if (chapter.startsWith('Portal')) return /^PortalLogs/;
    if (/access log/i.test(about)) return /^HttpAccessLog/;
    if (/StepsPublishLogs/.test(about)) return /^StepsPublishLogs/;
    if (/step's log group|`Steps\w+Logs`/.test(about)) return /^Steps\w+Logs/;
    if (/canary/.test(about)) return /^CanaryLogs/;
    if (/log group of the function|or of key validations/.test(about)) return /^(?:Address|Validate)Logs/;
    return /^AddressLogs/;
  };

  let stacks: Template[];
  beforeAll(async () => {
    const { service, loader, stack } = await templates({ ...everything, portal });
    stacks = [service, loader, stack(portalStackName(deploymentName(everything.stage))).template];
  });

  it('are exactly the queries of the runbook, by chapter and name, each with the log groups that the text names', () => {
    const saved = stacks.flatMap((template) =>
      Object.values(ofType(template, 'AWS::Logs::QueryDefinition')).map(({ Properties = {} }) => {
        const groups = (Properties.LogGroupNames as { Ref: string }[]).map(({ Ref }) => Ref);
        return { name: Properties.Name, query: Properties.QueryString, groups: groups.sort() };
      }),
    );
    const groups = stacks.flatMap((template) => Object.keys(ofType(template, 'AWS::Logs::LogGroup')));
    const documented = queries.map(({ chapter, about, name, query }) => ({
      name: `bag-adres-trial/${chapter}/${name}`,
      query,
      groups: groups.filter((id) => groupsFor(about, chapter).test(id)).sort(),
    }));
    const inOrder = (one: { name: unknown }, other: { name: unknown }) => (`${one.name}` < `${other.name}` ? -1 : 1);
    expect(saved.sort(inOrder)).toEqual(documented.sort(inOrder));
    for (const { groups: read } of documented) expect(read.length).toBeGreaterThan(0);
  });

  it('have names that CloudWatch accepts and no two share', () => {
    const names = queries.map(({ chapter, name }) => `bag-adres-trial/${chapter}/${name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[^:*/]+\/[^:*/]+\/[^:*/]+$/);
  });

  it('do not cover what is not deployed', async () => {
    const { service, loader } = await templates();
    const names = [service, loader].flatMap((template) =>
      Object.values(ofType(template, 'AWS::Logs::QueryDefinition')).map(({ Properties }) => String(Properties?.Name)),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => /Canary|Audit|Portal/.test(name))).toEqual([]);
  });
});
