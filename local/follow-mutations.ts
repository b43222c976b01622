import { runLoad } from '../loader/run/run-load.ts';
import { dynamoDbAddressTable } from '../loader/storage/address-table.ts';
import type { LoadOptions } from './demo/load-extract.ts';

const everyMilliseconds = 3_600_000;

/** A server that does not answer is asked for minutes; whoever waits for the start hears of it after this. */
const silenceMilliseconds = 10_000;

type Follow = LoadOptions & {
  /** A list, a folder or a zip. */
  mutations: string;
  announce: (line: string) => void;
  pauseMilliseconds?: number;
  silenceMilliseconds?: number;
};

/**
 * Applies the days of mutations that lead on from the live dataset, and looks for further ones every hour. A day that can't
 * be applied is announced, once for each reason, and changes nothing. Returns what stops it, after a load in progress.
 */
export async function followMutations({
  client,
  table,
  mutations,
  announce,
  pauseMilliseconds = everyMilliseconds,
  silenceMilliseconds: silence = silenceMilliseconds,
  ...options
}: Follow): Promise<() => Promise<void>> {
  let last = '';
  const announceOnce = (line: string) => {
    if (line !== last) announce(line);
    last = line;
  };
  const apply = async () => {
    try {
      await runLoad({
        mutations: [mutations],
        storage: options.storageFolder,
        addresses: dynamoDbAddressTable(client, table, { transactions: options.embedded ?? false }),
        progress: options.progress,
        owner: 'npm start',
        onPublished: ({ added, changed, removed, days, peildatum }) => {
          const count = days.length === 1 ? '1 day' : `${days.length} days`;
          announceOnce(
            `Applied ${count} of mutations: ${added} addresses added, ${changed} changed, ${removed} removed. The dataset is of ${peildatum}.`,
          );
        },
      });
    } catch (error) {
      announceOnce(`Mutations could not be applied, and what is served stays as it is. ${(error as Error).message}`);
    }
  };
  const waiting = setTimeout(
    announce,
    silence,
    `Still reading mutations from ${mutations}; the service starts after that.`,
  );
  await apply();
  clearTimeout(waiting);
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(apply);
  }, pauseMilliseconds);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
