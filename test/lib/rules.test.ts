import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';

const script = new URL('./synthesize-with-rules.ts', import.meta.url).pathname;

describe('the rules of a synthesis, warnings included', () => {
  let reports: Record<string, { plugins: string[]; found: string[] }>;

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 26 });
    reports = JSON.parse(stdout);
  }, 120_000);

  it.each([
    ['an identity provider', 'provider'],
    ['a user pool', 'userPool'],
  ])('find nothing with every option on and a portal with %s', (_, name) => {
    // The check of properties has a report only where it finds something.
    expect(reports[name]).toEqual({ plugins: expect.arrayContaining(['AwsSolutions', 'Serverless']), found: [] });
  });

  it('name a bucket that breaks them', () => {
    expect(reports.withBucket?.found).toEqual(expect.arrayContaining([expect.stringContaining('AwsSolutions-S1')]));
  });

  it('name a value that a property does not take', () => {
    expect(reports.withTableClass?.found).toEqual(
      expect.arrayContaining([expect.stringContaining("'CHEAP' is not one of")]),
    );
  });
});
