import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdminStore } from '../../core/accounts/admin/admin-store.ts';
import { chunkItem, chunkOf, type SearchLine, searchLines } from '../../core/accounts/admin/search-index.ts';
import { environment } from '../../core/names.ts';
import { pageFiles } from '../../lib/config/logo.ts';
import { writeBundle } from '../../lib/shared/bundle.ts';
import { startAddressService, testTables } from '../../test/support/address-service.ts';
import { gatewayEvent } from '../../test/support/gateway-event.ts';
import { createTestPortal, portalSettings } from '../../test/support/portal.ts';
import { writeItems } from '../../test/support/stored-items.ts';
import type { Benchmark, Figures } from './benchmark.ts';
import { median, rounded } from './measure.ts';

const pages = 200;
const starts = 11;

/**
 * How long pages of the portal take on the local engine, of one account and of the list of 100,000, and how long a new
 * instance takes to its first page.
 */
export const benchmark: Benchmark = {
  async run() {
    return {
      page_ms: await measurePages(),
      accounts: manyAccounts,
      accounts_page_ms: await measureAccounts(),
      ...(await measureColdStart()),
    };
  },
  plot: (figures) => {
    const { page_ms, accounts_page_ms, cold_start_ms } = figures as {
      page_ms: Record<string, number>;
      accounts_page_ms: Record<string, number>;
      cold_start_ms: number;
    };
    const bars = Object.entries({ ...page_ms, ...accounts_page_ms }).map(([label, value]) => ({ label, value }));
    return {
      title: 'The portal: a page on a warm instance, and the first page of a new one',
      unit: 'ms',
      bars: [...bars, { label: 'cold start', value: cold_start_ms, isReference: true }],
    };
  },
};

async function measurePages(): Promise<Figures> {
  const service = await startAddressService({ asDeployed: true });
  try {
    await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
    await service.admin.accounts.create({ id: 'a', plan: 'small' });
    for (let i = 0; i < 5; i++) await service.admin.keys.create({ account: 'a', label: `key ${i}` });
    const person = await createTestPortal(service).signedIn({ subject: 'sub:o', operator: true });
    const figures: Figures = {};
    for (const [name, path] of Object.entries({ overview: '', keys: '/keys', usage: '/usage', changes: '/changes' })) {
      const took: number[] = [];
      for (let i = 0; i < pages; i++) {
        const from = performance.now();
        await person.get(`/accounts/a${path}`);
        took.push(performance.now() - from);
      }
      figures[name] = rounded(median(took), 2);
    }
    return figures;
  } finally {
    await service.stop();
  }
}

const manyAccounts = 100_000;
const visits = 11;

/** Pages of an operator over many accounts, each with a name, a contact, a note and a member. */
async function measureAccounts(): Promise<Figures> {
  const service = await startAddressService({ asDeployed: true });
  try {
    await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
    await service.admin.accounts.create({ id: 'model', plan: 'small' });
    await writeAccounts(service.client);
    const operator = await createTestPortal(service).signedIn({ subject: 'sub:o', operator: true });
    const paths = {
      'first page': '/operator/accounts',
      'last page': '/operator/accounts?after=shop-099940',
      'search, one found': '/operator/accounts?q=INFO%40winkel-77123.',
      'search, none found': '/operator/accounts?q=nowhere',
      'search, all found': '/operator/accounts?q=b.v.',
      plans: '/operator/plans',
    };
    const figures: Figures = {};
    for (const [name, path] of Object.entries(paths)) {
      const took: number[] = [];
      for (let i = 0; i < visits; i++) {
        const from = performance.now();
        const { status } = await operator.get(path);
        if (status !== 200) throw new Error(`${path} is ${status}`);
        took.push(performance.now() - from);
      }
      figures[name] = rounded(median(took), 3);
    }
    return figures;
  } finally {
    await service.stop();
  }
}

/** As the admin module would write them one by one, which takes an hour. */
async function writeAccounts(client: DynamoDBDocumentClient): Promise<void> {
  const store = createAdminStore(client, testTables.accounts, 'bench', Date.now);
  const model = await store.get({ account: 'model', item: 'access#0' });
  const byChunk = new Map<number, SearchLine[]>();
  for (let first = 0; first < manyAccounts; first += 5_000) {
    const items = Array.from({ length: 5_000 }, (_, i) => {
      const number = first + i;
      const id = `shop-${String(number).padStart(6, '0')}`;
      const details = {
        name: `Winkel nummer ${number} B.V.`,
        contact: `info@winkel-${number}.example.nl`,
        note: 'Klant sinds 2024, factuur per maand',
      };
      const made = { plan: 'small', texts: Object.values(details), members: [`jo@winkel-${number}.example.nl`] };
      const lines = byChunk.get(chunkOf(id)) ?? [];
      lines.push(...searchLines(id, made));
      byChunk.set(chunkOf(id), lines);
      const account = { account: id };
      return [
        { ...model, ...account },
        { account: 'account#', item: id },
        { ...account, item: 'details', ...details },
      ];
    });
    await writeItems(client, testTables.accounts, items.flat());
  }
  for (const [chunk, lines] of byChunk) await store.put(chunkItem(chunk, lines));
}

async function measureColdStart(): Promise<Figures> {
  const folder = join(mkdtempSync(join(tmpdir(), 'portal-')), 'bundle');
  mkdirSync(folder);
  try {
    writeBundle({ name: 'Portal', entries: { index: 'portal/handler.ts' }, ...pageFiles(undefined) }, folder);
    const bytes = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    const took: number[] = [];
    for (let i = 0; i < starts; i++) took.push(await firstPage(folder));
    return { cold_start_ms: rounded(median(took), 1), bundle_bytes: bytes };
  } finally {
    rmSync(join(folder, '../../test'), { recursive: true });
  }
}

/** Milliseconds of a new process from the import of the bundle to the first page, which needs no table. */
async function firstPage(folder: string): Promise<number> {
  const { baseUrl, apiUrl, company, colour } = portalSettings;
  const signIn = { issuer: 'https://login.example.nl', clientId: 'portal', subjectClaim: 'sub', operators: [] };
  const module = JSON.stringify(pathToFileURL(join(folder, 'index.mjs')).href);
  const script = `const from = performance.now();
    const { handler } = await import(${module});
    const { statusCode } = await handler(${JSON.stringify(gatewayEvent('/'))}, {});
    if (statusCode !== 200) throw new Error('The first page is a ' + statusCode);
    console.log(performance.now() - from);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: {
      AWS_REGION: 'eu-central-1',
      [environment.portal]: JSON.stringify({ deployment: 'bag-adres-bench', baseUrl, apiUrl, company, colour, signIn }),
      [environment.accountsTable]: 'accounts',
      [environment.keyChecksumSecretArn]: 'checksum',
      [environment.portalSessionSecret]: 'session',
      [environment.snapshotBucket]: 'snapshots',
      [environment.statementsBucket]: 'statements',
      [environment.loadMachine]: 'arn:aws:states:eu-central-1:123456789012:stateMachine:Load',
    },
  });
  return Number(stdout);
}
