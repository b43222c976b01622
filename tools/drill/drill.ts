import '../../test/support/quiet.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountsTable } from '../../core/names.ts';
import { restoreDeletedTable, restoreWrongContents } from '../../operator/recovery/restore.ts';
import { restoreFromSet } from '../../operator/recovery/restore-account.ts';
import { run } from '../../test/operator/command-line.ts';
import { startFakeAws, templateAnswer, useAws } from '../../test/operator/fake-aws.ts';
import {
  deploymentStacks,
  OneFailure,
  startNewDeployment,
  writeKeyPair,
} from '../../test/operator/recovery/recovery-bench.ts';
import { testChecksumSecret, testTables } from '../../test/support/address-service.ts';
import { startHttpService } from '../../test/support/http-service.ts';
import { startS3 } from '../../test/support/s3.ts';
import { accountsTemplate, tableControl } from '../../test/support/table-control.ts';
import { Random } from '../bench/generator/random.ts';

/** What one procedure of the drill did: how often it was interrupted, how long its own work took, and what was lost. */
export type DrillResult = {
  procedure: string;
  interruptions: number;
  milliseconds: number;
  /** Accounts that a customer would miss. */
  lostAccounts: number;
  /** Keys that should work and don't, or work although they were revoked. */
  wrongKeys: number;
};

export type DrillOptions = { accounts: number; seed: number; log: (line: string) => void };

const table = testTables.accounts;

/**
 * Loses a table, its contents and the account, in a random order, and brings each back with one call failing in the
 * middle. DynamoDB's tables are real ones of the embedded engine; its restores, backups and the other services are
 * stubs that answer as AWS documents.
 */
export async function drill({ accounts, seed, log }: DrillOptions): Promise<DrillResult[]> {
  await using resources = new AsyncDisposableStack();
  const service = await startHttpService();
  resources.defer(service.stop);
  const s3 = await startS3('snapshots');
  resources.defer(s3.stop);
  const folder = await mkdtemp(join(tmpdir(), 'drill-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const random = new Random(seed);
  const keys = await fill(service.admin, accounts);
  log(`${accounts} accounts with a key each; seed ${seed}`);

  const tags = { application: 'bag-adres' };
  const control = tableControl(service);
  control.adopt(table, { expiry: accountsTable.expires, tags });
  const failure = new OneFailure();
  const aws = await startFakeAws(
    deploymentStacks(service.baseUrl),
    {
      ...failure.in(control.operations),
      GetSecretValue: () => ({ value: { SecretString: testChecksumSecret } }),
      GetTemplate: () => templateAnswer(accountsTemplate(tags)),
    },
    service.endpoint,
  );
  resources.defer(aws.stop);
  const other = await startNewDeployment(service.baseUrl, failure);
  resources.defer(other.stop);
  resources.defer(useAws(aws.endpoint, { AWS_ENDPOINT_URL_S3: s3.endpoint }));
  const use = (endpoint: string) => Object.assign(process.env, { AWS_ENDPOINT_URL: endpoint });

  const patience = { pauseMilliseconds: 0, sleep: async () => undefined };
  const tools = {
    stack: 'a',
    into: 'a',
    execute: true,
    key: undefined,
    patience,
    print: (line: string) => log(`    ${line}`),
  };
  const results: DrillResult[] = [];

  /** Runs a procedure until it has ended, as an operator does; `between` is what the operator does after a failure. */
  async function practise(
    procedure: string,
    work: () => Promise<unknown>,
    examine: () => Promise<number[]>,
    between?: () => Promise<void>,
  ) {
    log(`${procedure}`);
    const call = 1 + random.int(procedure === 'lost-account' ? 1 : 4);
    failure.next = { call, when: random.pick(['before', 'after'] as const) };
    const startedAt = performance.now();
    let interruptions = 0;
    for (;;) {
      try {
        await work();
        break;
      } catch (error) {
        log(`    interrupted: ${(error as Error).message.slice(0, 160)}`);
        if (++interruptions > 5) throw error;
        await between?.();
      }
    }
    failure.next = null;
    const milliseconds = Math.round(performance.now() - startedAt);
    const [lostAccounts = 0, wrongKeys = 0] = await examine();
    results.push({ procedure, interruptions, milliseconds, lostAccounts, wrongKeys });
    log(
      `    ${(milliseconds / 60_000).toFixed(2)} minutes, ${interruptions} interruptions, ${lostAccounts} accounts lost, ${wrongKeys} keys wrong`,
    );
  }

  /** How many accounts are missing, and how many keys answer otherwise than they must. */
  async function examine(revoked: ReadonlySet<string> = new Set()): Promise<number[]> {
    const statuses = await Promise.all(
      keys.map(async ({ key, keyId }) => [keyId, (await service.instance.lookUp(key)).status]),
    );
    const wrong = statuses.filter(([keyId, status]) => status !== (revoked.has(`${keyId}`) ? 401 : 200));
    const { accounts: found } = await service.admin.backup.export();
    return [accounts - found.length, wrong.length];
  }

  const revoked = new Set<string>();
  const procedures: Record<string, () => Promise<void>> = {
    'deleted-table': async () => {
      await control.lose(table);
      await practise(
        'deleted-table',
        () => restoreDeletedTable({ ...tools, table: 'accounts' }),
        () => examine(revoked),
      );
    },
    'wrong-contents': async () => {
      const at = new Date(Date.now() - 1000);
      await control.remember(table, at);
      const [victim] = keys.splice(random.int(keys.length), 1);
      if (victim) {
        await service.admin.keys.revoke({ account: victim.account, keyId: victim.keyId });
        keys.push(victim);
        revoked.add(victim.keyId);
      }
      await service.admin.plans.put({ code: 'drill', limits: { day: 0 } });
      await practise(
        'wrong-contents',
        () => restoreWrongContents({ ...tools, at }),
        () => examine(revoked),
      );
    },
    'lost-account': async () => {
      await writeKeyPair(folder);
      const sets = join(folder, 'sets');
      await run(['backup', 'create', '--stack', 'a', '--to', sets, '--public-key', join(folder, 'public.pem')]);
      use(other.endpoint);
      await other.reset();
      const restore = () =>
        restoreFromSet({ ...tools, lost: 'account', from: sets, privateKey: join(folder, 'private.pem') });
      const examineNew = async () => {
        const [before, after] = [await service.admin.backup.export(), await other.admin.backup.export()];
        const hashes = (backup: typeof before) =>
          new Set(
            backup.accounts.flatMap(({ keys: all }) =>
              all.map(({ hash }) => hash && Buffer.from(hash).toString('hex')),
            ),
          );
        const missing = [...hashes(before)].filter((hash) => !hashes(after).has(hash));
        const isSecretThere = other.versions.get(other.current()) === testChecksumSecret;
        return [before.accounts.length - after.accounts.length, isSecretThere ? missing.length : keys.length];
      };
      await practise('lost-account', restore, examineNew, async () => {
        other.deployed.splice(0, 1, other.current());
        await other.load();
      });
      use(aws.endpoint);
    },
  };
  const order = Object.keys(procedures).toSorted(() => random.int(3) - 1);
  for (const name of order) await procedures[name]?.();
  return results;
}

async function fill(admin: Awaited<ReturnType<typeof startHttpService>>['admin'], accounts: number) {
  await admin.plans.put({ code: 'drill', limits: { day: 1e6 } });
  const keys: { account: string; key: string; keyId: string }[] = [];
  for (let n = 0; n < accounts; n++) {
    const account = `drill-${n}`;
    await admin.accounts.create({ id: account, plan: 'drill' });
    keys.push({ account, ...(await admin.keys.create({ account, label: 'drill' })) });
  }
  return keys;
}

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const [accounts = '50', seed = `${Date.now() % 100_000}`] = process.argv.slice(2);
  const results = await drill({
    accounts: Number(accounts),
    seed: Number(seed),
    log: (line) => process.stdout.write(`${line}\n`),
  });
  process.exitCode = results.every(({ lostAccounts, wrongKeys }) => lostAccounts + wrongKeys === 0) ? 0 : 1;
}
