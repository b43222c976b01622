import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLocalState } from '../../local/data-folder.ts';
import { readyText, start } from '../../test/support/start.ts';
import { administer } from '../local-run.ts';
import { enginePid } from './processes.ts';

type Answered = { status: number; milliseconds: number };

/** How many answers had each status, how long the longest took, and how many took over five seconds. */
export type StoppedReport = { statuses: Record<string, number>; longestMilliseconds: number; late: number };

const rounds = 3;

/**
 * Stops the engine of a running `npm start` (SIGSTOP) while so many callers wait for an answer, lets as many more call
 * it, and wakes it; three times.
 */
export async function stopEngineUnder(callers: number): Promise<StoppedReport> {
  const data = mkdtempSync(join(tmpdir(), 'stopped-engine-'));
  const service = start(['--port', '0', '--data', data]);
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  let engine: number | undefined;
  try {
    await service.until(readyText);
    const state = await readLocalState(data);
    engine = enginePid(join(data, 'dynamodb.db'));
    if (engine === undefined) throw new Error('npm start has no engine.');
    const { key } = await administer(state, async (admin) => {
      await admin.plans.put({ code: 'unlimited', limits: { month: null } });
      await admin.accounts.create({ id: 'many', plan: 'unlimited' });
      return await admin.keys.create({ account: 'many', label: 'callers' });
    });
    const url = `${state.baseUrl}/v1/address?postcode=1381AA&huisnummer=9`;
    const call = () => lookUp(url, key, agent);
    const all = (count: number) => Promise.all(Array.from({ length: count }, call));
    await all(20);
    const answered: Answered[] = [];
    for (let round = 0; round < rounds; round++) {
      const waiting = all(callers);
      await sleep(30);
      process.kill(engine, 'SIGSTOP');
      answered.push(...(await waiting), ...(await all(callers)));
      process.kill(engine, 'SIGCONT');
      await sleep(2_000);
      answered.push(...(await all(20)));
    }
    return report(answered);
  } finally {
    if (engine !== undefined) process.kill(engine, 'SIGCONT');
    agent.destroy();
    service.child.kill('SIGTERM');
    await service.ended;
    rmSync(data, { recursive: true });
  }
}

function report(answered: readonly Answered[]): StoppedReport {
  const statuses: Record<string, number> = {};
  for (const { status } of answered) statuses[status] = (statuses[status] ?? 0) + 1;
  const times = answered.map(({ milliseconds }) => milliseconds);
  return {
    statuses,
    longestMilliseconds: Math.round(Math.max(...times)),
    late: times.filter((milliseconds) => milliseconds > 5_000).length,
  };
}

/** A status of 0 is a connection that ended without an answer. */
function lookUp(url: string, key: string, agent: Agent): Promise<Answered> {
  const from = performance.now();
  const took = () => performance.now() - from;
  return new Promise((resolve) => {
    get(url, { headers: { 'x-api-key': key }, agent }, (answer) => {
      answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, milliseconds: took() }));
    }).on('error', () => resolve({ status: 0, milliseconds: took() }));
  });
}
