import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { installedTool } from '../../.ci/tools/installed.ts';
import { templates } from '../lib/synthesized.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { inSweep } from '../support/in-sweep.ts';
import { isFullSweep, sweep } from '../support/sweep.ts';

const page = 'docs/evidence/compliance.md';
const text = readFileSync(page, 'utf8');
const folder = folderForNow('bag-adres-compliance-');
const guard = installedTool('@cdklabs/cdk-validator-cfnguard');
const withGuard = guard ? it : it.skip;
const because = guard ? '' : ' (skipped: no cfn-guard: run "npm run tools")';
const services = [
  'apigateway',
  'cloudwatch',
  'dynamodb',
  'identityandaccessmanagement',
  'keymanagementservice',
  'lambda',
  's3',
  'stepfunctions',
];
const operatingSystem =
  { linux: 'ubuntu', darwin: 'macos' }[process.platform as string] ?? process.platform;
const program = `${guard}/bin/${operatingSystem}/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}/cfn-guard`;

/** The Control Tower rules that the templates in a folder don't meet, by id with their titles. */
function unmetRules(templatesIn: string, ofServices = services): Map<string, string> {
  const unmet = new Map<string, string>();
  for (const service of ofServices) {
    const rules = `${guard}/rules/control-tower/cfn-guard/${service}`;
    const { stdout, status, error } = spawnSync(
      program,
      ['validate', '-r', rules, '-d', templatesIn, '-o', 'json'],
      {
        encoding: 'utf8',
        maxBuffer: 1 << 28,
      },
    );
    if (error) throw new Error(`cfn-guard did not start; run npm run tools: ${error.message}`);
    // 0: all rules are met; 19: some are not.
    if (status !== 0 && status !== 19) {
      throw new Error(`cfn-guard ended with ${status} for ${service}.`);
    }
    for (const [, id = '', title = ''] of stdout.matchAll(
      /\[(CT\.[A-Z0-9]+\.PR\.\d+)\]: ([^"\\\n]+?)\s*(?=\\n|\n|")/g,
    )) {
      unmet.set(id, title);
    }
  }
  return unmet;
}

/** The ids in the first column of the table below a heading. */
function documented(heading: string): string[] {
  const chapter = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`)) ?? '';
  return [...chapter.matchAll(/^\| `([^`]+)` \|/gm)].map(([, id = '']) => id);
}

describe('the page on compliance', () => {
  let given: string;
  beforeAll(async () => {
    given = mkdtempSync(join(folder, 'templates-'));
    const { data, service, loader } = await templates();
    for (const [name, template] of Object.entries({ data, service, loader })) {
      writeFileSync(join(given, `${name}.json`), JSON.stringify(template));
    }
  });

  withGuard(
    `lists exactly the rules of Control Tower that the defaults do not meet${because}`,
    () => {
      const unmet = [...unmetRules(given, sweep(services, 2)).keys()].sort();
      expect(unmet.length).toBeGreaterThan(isFullSweep ? 5 : 0);
      expect(documented('Control Tower')).toEqual(
        isFullSweep ? unmet : expect.arrayContaining(unmet),
      );
    },
  );

  withGuard(`reports a rule that a change breaks${because}`, () => {
    const worse = mkdtempSync(join(folder, 'worse-'));
    const table = { Type: 'AWS::DynamoDB::Table', Properties: { BillingMode: 'PAY_PER_REQUEST' } };
    writeFileSync(join(worse, 'data.json'), JSON.stringify({ Resources: { Table: table } }));
    expect([...unmetRules(worse, ['dynamodb']).keys()]).toContain('CT.DYNAMODB.PR.1');
  });

  // `UPDATE_DOCS=1 npm test -- test/templates/compliance` writes the table anew.
  inSweep('lists each acknowledged rule of cdk-nag with its reason', async () => {
    const reasons = new Map<string, Set<string>>();
    for (const file of await metadata()) {
      for (const entries of Object.values(file)) {
        for (const { type, data } of entries) {
          if (type !== 'aws:cdk:acknowledged-rules') continue;
          for (const [rule, reason] of Object.entries(data)) {
            const id = rule.replace(/^.*::(?=AwsSolutions-|Serverless-)/, '').replace(/\[.*$/, '');
            reasons.set(id, (reasons.get(id) ?? new Set()).add(reason));
          }
        }
      }
    }
    expect(reasons.size).toBeGreaterThan(5);
    const rows = [...reasons]
      .sort()
      .map(([id, why]) => `| \`${id}\` | ${[...why].sort().join('<br>')} |`);
    const table = `| rule | reason |\n|---|---|\n${rows.join('\n')}\n`;
    const [before = '', after = ''] = text.split('## cdk-nag\n');
    const updated = `${before}## cdk-nag\n${after.replace(/\| rule \| reason \|\n(?:\|.*\n)+/, () => table)}`;
    if (process.env.UPDATE_DOCS) writeFileSync(page, updated);
    expect(readFileSync(page, 'utf8')).toBe(updated);
  });
});

type Metadata = Record<string, { type: string; data: Record<string, string> }[]>;

/** What the CDK wrote about the constructs of each stack of the default configuration. */
async function metadata(): Promise<Metadata[]> {
  const { app } = await import('../lib/unbundled-app.ts');
  const { directory } = app().synth();
  const { names } = await templates();
  return Object.values(names).map((name) =>
    JSON.parse(readFileSync(join(directory, `${name}.metadata.json`), 'utf8')),
  );
}
