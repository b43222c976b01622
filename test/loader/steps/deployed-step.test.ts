import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { loadDefaults, loaderEnvironment } from '../../../loader/names.ts';
import { DeployedStep } from '../../../loader/steps/deployed-step.ts';

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
])('a dataset of %i days is reported with an age of %i, so that one of the future raises the alarm', (days, age) => {
  new DeployedStep('discover', {}).reportAge(days);
  const lines = written.map((line) => JSON.parse(line));
  jest.restoreAllMocks();
  expect(lines).toMatchObject([{ DatasetAgeDays: age }]);
});

it('the guard uses the thresholds of the configuration by its names, and the defaults for the others', () => {
  const deployment = new DeployedStep('guard', { [loaderEnvironment.thresholds]: '{"maximumRemovedShare":0.3}' });
  expect(deployment.thresholds).toEqual({ ...loadDefaults.guard, maximumRemovedShare: 0.3 });
});

it.each(['{"maximumRemovedshare":0.3}', '{"maximumRemovedShare":-1}', '{"maximumRemovedShare":"0.3"}'])(
  'the guard does not start with thresholds that no configuration has: %s',
  (text) => {
    const deployment = new DeployedStep('guard', { [loaderEnvironment.thresholds]: text });
    expect(() => deployment.thresholds).toThrow('maximumRemoved');
  },
);
