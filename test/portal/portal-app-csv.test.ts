import { describe, expect, it } from '@jest/globals';
import { Hono } from 'hono';
import { csvTable } from '../../packages/look/csv.ts';
import { type GatewayEvent, portalHandler } from '../../portal/portal-app.ts';
import { gatewayEvent } from '../support/gateway-event.ts';

/** The bytes of a file as API Gateway sends them. */
async function downloaded(query: Record<string, string>): Promise<Buffer> {
  const columns = [
    { name: 'label', heading: 'Naam' },
    { name: 'lookups', heading: 'Zoekopdrachten' },
  ];
  const rows = [
    ['a,b;c "d"', 3],
    ['=1+1', null],
    ['café', 0],
  ];
  const { file, type } = csvTable({ query }, { name: 'x.csv', columns, rows });
  const app = new Hono().get('/x', (c) => c.body(file, 200, { 'Content-Type': type }));
  const { body, isBase64Encoded } = await portalHandler(app)(gatewayEvent('/x') as unknown as GatewayEvent);
  return Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
}

describe('a CSV file', () => {
  it('has commas and stable names for programs, and starts no formula', async () => {
    const file = await downloaded({});
    expect(file.toString()).toBe(`label,lookups\r\n"a,b;c ""d""",3\r\n'=1+1,\r\ncafé,0\r\n`);
  });

  it('has semicolons, headings and the mark of UTF-8 for people, also through the gateway', async () => {
    const file = await downloaded({ for: 'people' });
    expect(file.subarray(0, 3).toString('hex')).toBe('efbbbf');
    expect(file.subarray(3).toString()).toBe(`Naam;Zoekopdrachten\r\n"a,b;c ""d""";3\r\n'=1+1;\r\ncafé;0\r\n`);
  });
});
