import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { portal, propertiesOf, type Template, templates } from '../lib/synthesized.ts';
import { newAccount, startAddressService } from '../support/address-service.ts';

const page = 'docs/security.md';

function accessFields(template: Template): string[] {
  const [stage] = propertiesOf(template, 'AWS::ApiGatewayV2::Stage');
  const settings = stage?.AccessLogSettings as { Format: string } | undefined;
  return Object.keys(JSON.parse(settings?.Format ?? '{}'));
}

/** The fields of the line of each request, in every kind of answer, without those of metrics. */
async function requestFields(): Promise<string[]> {
  const service = await startAddressService();
  try {
    const { key } = await newAccount(service, { day: 2 });
    const args = ['test/support/lookup-log.ts', service.endpoint, key];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const lines: Record<string, unknown>[] = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const names = lines.filter(({ level }) => level === undefined).flatMap(Object.keys);
    return [...new Set(names)].filter((name) => name !== '_aws');
  } finally {
    await service.stop();
  }
}

// `UPDATE_DOCS=1 npm test -- test/templates/logged` writes the table anew.
it('docs/security.md lists each field of the logs', async () => {
  const { all, service } = await templates({ portal });
  const logs = {
    'access log of the API': accessFields(service),
    'access log of the portal': accessFields(all.portal as Template),
    'function, for each request': await requestFields(),
  };
  const rows = Object.entries(logs).map(([log, fields]) => {
    expect(fields.length).toBeGreaterThan(5);
    return `| ${log} | ${fields.map((field) => `\`${field}\``).join(', ')} |`;
  });
  const table = ['| log | fields of a line |', '|---|---|', ...rows].join('\n');
  const text = readFileSync(page, 'utf8');
  expect(text).toContain('<!-- logs -->');
  const updated = text.replace(
    /(<!-- logs -->\n)[\s\S]*?(<!-- \/logs -->)/,
    (_, before, after) => `${before}\n${table}\n\n${after}`,
  );
  if (process.env.UPDATE_DOCS) writeFileSync(page, updated);
  expect(readFileSync(page, 'utf8')).toBe(updated);
});
