import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { isFullSweep, sweep } from '../support/sweep.ts';

const script = new URL('../lib/synthesize-with-rules.ts', import.meta.url).pathname;
/**
 * Threads that collect garbage beside each other take a quarter more CPU, which the other workers need. So does
 * optimizing the WebAssembly of the CDK's check, which runs for a second.
 */
const options = ['--single-threaded-gc', '--liftoff-only'];

// `npm run synth`, which a contributor also runs, has the rules of the templates that are deployed.
const inFullSweep = isFullSweep ? describe : describe.skip;

inFullSweep('the synthesis with all rules, warnings included', () => {
  let reports: Record<string, { plugins: string[]; found: string[] }>;

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...options, script], { maxBuffer: 2 ** 26 });
    reports = JSON.parse(stdout);
  });

  const signIns = [
    ['a user pool', 'userPool'],
    ['an identity provider', 'provider'],
  ] as const;

  it.each(sweep(signIns, 1))('has no findings with every option on and a portal with %s', (_, name) => {
    // The check of properties has a report only where it finds something.
    expect(reports[name]).toEqual({ plugins: expect.arrayContaining(['AwsSolutions', 'Serverless']), found: [] });
  });

  it('reports a bucket that breaks a rule', () => {
    expect(reports.flawed?.found).toEqual(expect.arrayContaining([expect.stringContaining('AwsSolutions-S1')]));
  });

  it('reports an invalid value of a property', () => {
    expect(reports.flawed?.found).toEqual(expect.arrayContaining([expect.stringContaining("'CHEAP' is not one of")]));
  });
});
