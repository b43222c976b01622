import { SFNClient } from '@aws-sdk/client-sfn';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadDefaults, loaderEnvironment } from '../../../loader/names.ts';
import { DeployedStep, executionIsGone } from '../../../loader/steps/deployed-step.ts';
import { type AwsAnswer, startFakeAws } from '../../operator/fake-aws.ts';
import { startForTests } from '../../support/start-for-tests.ts';

describe('a deployed step', () => {
  const before = process.env.POWERTOOLS_METRICS_DISABLED;
  let written: string[];
  beforeEach(() => {
    process.env.POWERTOOLS_METRICS_DISABLED = 'false';
    written = [];
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    process.env.POWERTOOLS_METRICS_DISABLED = before;
  });

  it('a check of the source reports the deployed version as a metric with the version as its dimension', () => {
    new DeployedStep('discover', { [loaderEnvironment.version]: '1.2.0' }).reportVersion();
    const lines = written.map((line) => JSON.parse(line));
    jest.restoreAllMocks();
    expect(lines).toEqual([
      expect.objectContaining({
        service: 'loader',
        version: '1.2.0',
        DeployedVersion: 1,
        _aws: expect.objectContaining({
          CloudWatchMetrics: [expect.objectContaining({ Dimensions: [['service', 'version']] })],
        }),
      }),
    ]);
  });

  it('a check without a deployed version reports none', () => {
    new DeployedStep('discover', {}).reportVersion();
    expect(written).toEqual([]);
  });

  it.each([
    [40, 40],
    [-1, -1],
    [-40, 10_000],
  ])(
    'a dataset of %i days is reported with an age of %i, so that one of the future raises the alarm',
    (days, age) => {
      new DeployedStep('discover', {}).reportAge(days);
      const lines = written.map((line) => JSON.parse(line));
      jest.restoreAllMocks();
      expect(lines).toMatchObject([{ DatasetAgeDays: age }]);
    },
  );

  it('the guard uses the thresholds of the configuration by its names, and the defaults for the others', () => {
    const deployment = new DeployedStep('guard', {
      [loaderEnvironment.thresholds]: '{"maximumShare":0.3}',
    });
    expect(deployment.thresholds).toEqual({ ...loadDefaults.guard, maximumShare: 0.3 });
  });

  it.each(['{"maximumshare":0.3}', '{"maximumShare":-1}', '{"maximumShare":"0.3"}'])(
    'the guard does not start with thresholds that no configuration has: %s',
    (text) => {
      const deployment = new DeployedStep('guard', { [loaderEnvironment.thresholds]: text });
      expect(() => deployment.thresholds).toThrow(/maximum[Ss]hare/);
    },
  );
});

const owner = 'arn:aws:states:eu-west-1:123456789012:execution:Load:a-load';
const stoppedAt = Date.parse('2026-01-10T03:00:00Z');

let answer: AwsAnswer;
const aws = startForTests(() => startFakeAws({}, { DescribeExecution: () => answer }));
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const newClient = () => new SFNClient({ endpoint: aws.endpoint, region: 'eu-west-1', credentials });

const minutesLater = (minutes: number) =>
  executionIsGone(newClient(), 20 * 60, () => stoppedAt + minutes * 60_000);
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
