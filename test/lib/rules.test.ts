import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { everything, portal } from './synthesized.ts';

const signIn = { issuer: 'https://login.example.nl', clientId: 'portal', clientSecretName: 'portal-client' };
const script = new URL('./synthesize-with-rules.ts', import.meta.url).pathname;

// `npm run synth` judges the configuration of cdk.json; these have every option that adds resources.
const withProvider = { ...everything, portal: { ...portal, signIn } };
const withPool = { ...everything, stage: 'acceptance', portal };

describe('every rule of a synthesis', () => {
  let reports: string[];

  beforeAll(async () => {
    const run = [script, JSON.stringify([withProvider, withPool])];
    reports = JSON.parse((await promisify(execFile)(process.execPath, run, { maxBuffer: 2 ** 26 })).stdout);
  }, 120_000);

  it('passes with every option on, and a portal with an identity provider', () => {
    expect(reports[0]).toBe('');
  });

  it('passes with every option on, and a portal with a user pool', () => {
    expect(reports[1]).toBe('');
  });

  it('names a bucket that breaks one', () => {
    expect(reports[2]).toMatch(/AwsSolutions-S\d+[\s\S]*planted/);
  });
});
