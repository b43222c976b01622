import { beforeAll, describe, expect, it } from '@jest/globals';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { checkClock } from '../../../operator/deployment/check-clock.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const now = Date.UTC(2026, 10, 22, 12);
let told: Date | undefined;

/** A store that answers each read with nothing, at the time that it is told. */
const server = startForTests(() =>
  startHttpServer((incoming, answer) => {
    incoming.resume();
    answer.sendDate = false;
    answer.writeHead(200, {
      'content-type': 'application/x-amz-json-1.0',
      ...(told && { date: told.toUTCString() }),
    });
    answer.end('{}');
  }),
);
let client: ReturnType<typeof localDynamoDb>;

beforeAll(() => {
  client = localDynamoDb(server.url);
});

const check = (differenceSeconds?: number) => {
  told = differenceSeconds === undefined ? undefined : new Date(now - differenceSeconds * 1000);
  return checkClock({ client, table: 'accounts' }, () => now);
};

describe('the clock of this machine', () => {
  it.each([[0], [300], [-300], [undefined]])(
    'is accepted with a difference of %p seconds to the store',
    async (difference) => {
      await expect(check(difference)).resolves.toBeUndefined();
    },
  );

  it.each([
    [301, '301 seconds ahead of'],
    [-86_400, '86400 seconds behind'],
  ])(
    'is refused with a difference of %p seconds, with the time of the store',
    async (difference, said) => {
      await expect(check(difference)).rejects.toMatchObject({
        code: 'clock',
        message: expect.stringContaining(said),
      });
      await expect(check(difference)).rejects.toThrow(`(${told?.toISOString()}). Set it`);
    },
  );
});
