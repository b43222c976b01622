import { SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { executionIsGone } from '../../../loader/steps/deployed-step.ts';
import { type AwsAnswer, startFakeAws } from '../../operator/fake-aws.ts';

const owner = 'arn:aws:states:eu-west-1:123456789012:execution:Load:a-load';
const stoppedAt = Date.parse('2026-01-10T03:00:00Z');

let aws: Awaited<ReturnType<typeof startFakeAws>>;
let client: SFNClient;
let answer: AwsAnswer;

beforeAll(async () => {
  aws = await startFakeAws({}, { DescribeExecution: () => answer });
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  client = new SFNClient({ endpoint: aws.endpoint, region: 'eu-west-1', credentials });
});
afterAll(async () => {
  client.destroy();
  await aws.stop();
});

const minutesLater = (minutes: number) => executionIsGone(client, 20 * 60, () => stoppedAt + minutes * 60_000);
const execution = (status: string, stopDate?: number) => ({
  value: { status, startDate: 1, ...(stopDate && { stopDate }) },
});

describe('an execution that has the lock', () => {
  it.each(['ABORTED', 'TIMED_OUT', 'FAILED', 'SUCCEEDED'])(
    'is gone once none of its Lambdas can still run, and until then reports when that is: %s',
    async (status) => {
      answer = execution(status, stoppedAt / 1000);
      expect(await minutesLater(20)(owner)).toBe(true);
      await expect(minutesLater(19.9)(owner)).rejects.toMatchObject({
        name: 'LockSettlingError',
        message:
          'The load a-load ended at 2026-01-10T03:00:00.000Z; its functions may still write until ' +
          '2026-01-10T03:20:00.000Z, so this load waits.',
      });
    },
  );

  it('is not gone while it runs, also on a second check', async () => {
    answer = execution('RUNNING');
    expect(await minutesLater(60)(owner)).toBe(false);
    answer = execution('RUNNING', stoppedAt / 1000);
    expect(await minutesLater(60)(owner)).toBe(false);
  });

  it.each(['ExecutionDoesNotExist', 'AccessDeniedException'])(
    'is assumed to be running if its state is unknown: %s',
    async (error) => {
      answer = { error };
      expect(await minutesLater(60)(owner)).toBe(false);
    },
  );

  it('rethrows any other error of the request', async () => {
    answer = { error: 'InvalidArn' };
    await expect(minutesLater(60)(owner)).rejects.toMatchObject({ name: 'InvalidArn' });
  });

  it('is not looked up if the owner is not an execution', async () => {
    const before = aws.asked.length;
    expect(await minutesLater(60)('laptop:123:0f0f')).toBe(false);
    expect(aws.asked).toHaveLength(before);
  });
});
