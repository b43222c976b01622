import { palace, runSmoke } from '../checks/smoke.ts';

/**
 * The end of every recovery: the smoke test with a key, or the command for it. Never throws: the recovery itself has
 * ended.
 */
export async function smokeLines(baseUrl: string, key: string | undefined): Promise<string[]> {
  const command = `npx bag-adres smoke --url ${baseUrl} --key KEY`;
  if (!key) return [`Test the service with a key: ${command}`];
  try {
    const { results } = await runSmoke(baseUrl, { key, address: palace, isGuess: true });
    const failed = results.filter(({ state }) => state === 'failed');
    const count = (wanted: string) => results.filter(({ state }) => state === wanted).length;
    return [
      `Smoke test: ${count('passed')} passed, ${failed.length} failed, ${count('skipped')} skipped.`,
      ...failed.map(({ title, reason }) => `  failed: ${title}: ${reason}`),
    ];
  } catch (error) {
    return [`Smoke test: ${(error as Error).message}. Repeat it: ${command}`];
  }
}
