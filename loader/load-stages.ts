import type { Load } from './dataset/load.ts';
import { finishedReport, type LoadReport, RefusedLoadError, reportOf } from './load-report.ts';
import type { Session } from './load-session.ts';
import { applyChanges } from './steps/apply.ts';
import { approve } from './steps/approve.ts';
import { type Collected, collect, type ShardItem } from './steps/collect.ts';
import { type ChangeFile, guard, type Plan } from './steps/guard.ts';
import { importAll } from './steps/import-all.ts';
import { paths } from './steps/paths.ts';
import { publish } from './steps/publish.ts';
import { type Part, readReference } from './steps/reference.ts';
import { stage } from './steps/stage.ts';
import { getJson } from './storage/storage.ts';

/** The first half of a load, up to rows by shard; what is there already is not done again. */
export async function extract(session: Session, load: string): Promise<void> {
  const { storage, progress, options } = session;
  await stage(storage, load, progress);
  const { members } = await getJson<Load>(storage, paths.load(load));
  const workers = session.workers(sum(members, ({ path }) => path.at(-1)?.size ?? 0));
  if (!(await storage.open(paths.parts(load)))) {
    const shown = progress.begin('reference', { rows: 0 });
    const { partBytes } = options;
    await workers.run([{ kind: 'reference', load, partBytes }], (amount) => shown.advance(amount));
    shown.end();
  }
  const parts = await getJson<Part[]>(storage, paths.parts(load));
  const files = parts.flatMap((part) => part.files);
  const shown = progress.begin('extract', { bytes: sum(files, ({ compressedSize }) => compressedSize) });
  const reference = await readReference(storage, load);
  await workers.run(
    parts.map((part) => ({ kind: 'extract', load, part, reference })),
    (amount) => shown.advance(amount),
  );
  shown.end();
  await collect(storage, load);
}

/** New snapshots and differences of all shards. */
export async function merge(session: Session, load: string): Promise<void> {
  const { storage, progress, options } = session;
  const shards = await getJson<ShardItem[]>(storage, paths.shards(load));
  const workers = session.workers(0);
  const { addresses } = await getJson<Collected>(storage, paths.collected(load));
  const shown = progress.begin('merge', { rows: addresses });
  const { changesPerFile } = options;
  await workers.run(
    shards.map(({ shard }) => ({ kind: 'merge', load, shard, ...(changesPerFile ? { changesPerFile } : {}) })),
    (amount) => shown.advance(amount),
  );
  shown.end();
}

/** From the guard to the end. @throws RefusedLoadError */
export async function guardAndApply(
  session: Session,
  load: string,
  approval: boolean | string | undefined,
): Promise<LoadReport> {
  if (approval === true || approval === load) await approve(session.storage, load);
  const { owner, thresholds, options } = session;
  // An import that can't be done must not become what the next start has to finish first.
  const plan = await guard(session, { load, owner }, thresholds, async (size) => options.bulkImport?.takesOn(size));
  if (!plan.go) throw new RefusedLoadError(reportOf(plan, 'refused'));
  return apply(session, load);
}

/** The second half of a load that was begun, or of one that died there. */
export async function apply(session: Session, load: string): Promise<LoadReport> {
  const { storage, progress, owner, options } = session;
  const plan = await storage.get(paths.plan(load));
  const files = await getJson<ChangeFile[]>(storage, paths.changeFiles(load));
  const { bulkImport } = options;
  if (!(bulkImport && (await importAll(session, { load, files, owner }, bulkImport)))) {
    const shown = progress.begin('apply', { rows: sum(files, ({ writes }) => writes) });
    for (const { changes, writes } of files) {
      const { written } = await applyChanges(session, { load, changes, owner }, (rows) => shown.advance({ rows }));
      if (written === 0) shown.advance({ rows: writes });
    }
    shown.end();
  }
  const publishing = progress.begin('publish', {});
  const entry = await publish(session, { load, owner, ...(options.keep ? { keep: options.keep } : {}) });
  publishing.end();
  return plan ? reportOf(JSON.parse(plan.toString()) as Plan, 'published') : finishedReport(entry);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
