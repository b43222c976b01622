import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startMinistack } from '../http/http.ts';
import { root } from '../judge.ts';
import { withRefusedLoads, writeDeliveries } from './deliveries.ts';
import { confirmations, type Desk, openTerminal } from './desk.ts';
import { Reader, type Reading } from './reader.ts';
import type { Answers } from './terminal.ts';

/** The accounts that docs/deploy.md names: ministack takes the account from the key id. */
const accounts = { test: '111111111111', prod: '222222222222' };
export const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The stage for which docs/deploy.md loads a municipality. */
const loaded = '--stage trial';

/** Follows pages in an empty folder, with an AWS on this machine. */
export async function onEmulator(desk: Desk, readings: readonly Reading[]): Promise<Reader> {
  const { work, opened } = desk;
  const release = await desk.release();
  const aws = await startMinistack();
  opened.defer(() => aws.stop());
  const folder = join(work, 'empty');
  mkdirSync(folder);
  const deliveries = await writeDeliveries(folder);
  const environment = { ...aws.environment, ...release.variables };
  const terminal = await openTerminal(desk, folder, { answers, environment });
  await terminal.run(withoutChangeSets);

  const settings = join(folder, 'bag-adres.json');
  const keyOf = (printed: string) => printed.match(/bagadres_acme_\w+/g)?.at(-1) ?? '';
  const run = (shell: string) => {
    const stage = /stage[ =](test|trial)/.test(shell) ? 'test' : 'prod';
    return terminal.run(`export AWS_ACCESS_KEY_ID=${accounts[stage]}\n${shell}`);
  };
  const reader = new Reader({
    run: withRefusedLoads(run, loaded),
    placeholders: [
      ...deliveries,
      [/--local\b/g, () => loaded],
      [/\bBUCKET\b/g, () => '$(out loader SnapshotBucketName)'],
      [/bagadres_acme_\.\.\./g, keyOf],
      [/\bVERSION\b/g, () => version],
      [/\bDIR\//g, () => `${release.folder}/`],
      [/\bKEY_ID\b/g, (printed) => keyOf(printed).split('_')[2]?.slice(0, 8) ?? ''],
      [/\bID\b/g, () => 'acme'],
      [/\bCOMMAND\b/g, () => 'load run'],
      [/\b2026-11\b/g, () => new Date().toISOString().slice(0, 7)],
    ],
    configure: (shown) =>
      writeFileSync(settings, withSettings(readFileSync(settings, 'utf8'), shown)),
  });
  for (const reading of readings) await reader.read(reading);
  return reader;
}

/** What the programs ask, and what docs/deploy.md says to answer. */
const answers: Answers = [
  [/AWS region \[.*\]: $/, ''],
  [/E-mail address for alarms.*: $/, ''],
  [/AWS account of test.*: $/, accounts.test],
  [/AWS account of prod.*: $/, accounts.prod],
  [/\(y\/n\)\??:? $/i, 'y'],
  ...confirmations,
  [/Ok to proceed\? \(y\) $/, 'y'],
];

/** The CDK reads of a change set what ministack's don't have. */
const withoutChangeSets = `npx() {
  if [ "$1 $2" = 'cdk deploy' ]; then set -- "$@" --method direct; fi
  command npx "$@"
}`;

/** The text of bag-adres.json with settings that a page shows a part of. */
function withSettings(text: string, shown: string): string {
  const config = JSON.parse(text);
  for (const [name, value] of Object.entries(JSON.parse(`{${shown}}`))) {
    if (name === 'shared' || name === 'stages') Object.assign(config[name], value);
    else {
      config.shared[name] = value;
    }
  }
  return JSON.stringify(config, null, 2);
}
