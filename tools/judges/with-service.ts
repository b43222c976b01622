import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readyText, start } from '../../test/support/start.ts';
import { sample } from '../../test/support/weesp-truth.ts';
import type { Verdict } from './judge.ts';

/**
 * A service that `npm start` began, with the key that it prints, and a folder for as long as it
 * runs.
 */
type Service = { origin: string; key: string; folder: string };

/** Starts the service with its demo data, and stops it when it has been judged. */
export async function withService<T>(
  options: readonly string[],
  use: (service: Service) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'judge-service-'));
  const service = start(['--port', '0', '--data', join(folder, 'data'), ...options]);
  try {
    const printed = await service.until(readyText);
    const [, origin, key] =
      /(http:\/\/127\.0\.0\.1:\d+)[\s\S]*?X-API-Key: (\w+)/.exec(printed) ?? [];
    if (!origin || !key) throw new Error(`npm start printed no address and key:\n${printed}`);
    return await use({ origin, key, folder });
  } finally {
    service.child.kill('SIGINT');
    await service.ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Judges the service twice: with its demo data, and with objects, of Weesp where that extract is
 * there.
 */
export async function withBothDocuments(
  use: (service: Service) => Promise<Verdict>,
): Promise<Verdict> {
  const extract = existsSync(sample) ? ['--extract', sample] : [];
  const verdicts = [await withService([], use), await withService([...extract, '--objecten'], use)];
  return {
    findings: verdicts.flatMap(({ findings }) => findings),
    detail: verdicts.map(({ detail }) => detail).join('; with objects '),
  };
}
