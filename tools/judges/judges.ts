/**
 * Lets programs that others wrote judge this project: `npm run check:judges`, or one of them with
 * `-- --only engine`, or a part of one with `-- --only guides --part local`. Each is installed at
 * its first use, into the cache of this checkout. Exit code 1 says that a judge found something, 3
 * that none did but one could not sit, as its toolchain is missing.
 */
import { parseArgs } from 'node:util';
import { commands } from './aws/commands.ts';
import { deployment } from './aws/deployment.ts';
import { machine } from './aws/machine.ts';
import { client } from './client/client.ts';
import { engine } from './engine/engine.ts';
import { goClient, javaClient } from './generated/generated.ts';
import { guides } from './guides/guides.ts';
import { http } from './http/http.ts';
import { type Judge, lacks } from './judge.ts';
import { nag } from './nag/nag.ts';
import { proxy } from './proxy/proxy.ts';
import { templates } from './templates/templates.ts';
import { workflows } from './workflows.ts';

const judges: Readonly<Record<string, Judge>> = {
  templates,
  nag,
  workflows,
  client,
  proxy,
  go: goClient,
  java: javaClient,
  engine,
  commands,
  machine,
  deployment,
  http,
  guides,
};

const options = { only: { type: 'string' }, part: { type: 'string' } } as const;
const { only, part } = parseArgs({ options }).values;
if (only !== undefined && !(only in judges)) {
  console.error(`There is no judge "${only}". Name one of: ${Object.keys(judges).join(', ')}.`);
  process.exit(2);
}
const parts = judges[only ?? '']?.parts ?? [];
if (part !== undefined && !parts.includes(part)) {
  const advice = parts.length > 0 ? `Name one of: ${parts.join(', ')}.` : 'Leave out --part.';
  console.error(`There is no part "${part}" of ${only ?? 'all judges'}. ${advice}`);
  process.exit(2);
}

let objections = 0;
let absent = 0;
for (const [name, judge] of Object.entries(judges)) {
  if (only !== undefined && name !== only) continue;
  const missing = lacks(judge);
  if (missing !== undefined) {
    console.log(`${name} did not sit: "${missing}" does not run on this machine.`);
    absent++;
    continue;
  }
  const started = performance.now();
  const { findings, detail } = await judge.judge(part);
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(
    `${name} (${judge.description}): ${findings.length} findings; ${detail}; ${seconds} s.`,
  );
  for (const finding of findings) console.log(`  ${finding}`);
  objections += findings.length;
}
process.exitCode = objections > 0 ? 1 : absent > 0 ? 3 : 0;
