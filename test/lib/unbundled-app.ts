import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bagAdresApp } from '../../bin/stacks.ts';
import { assemblies } from './assemblies.ts';

/** The context of cdk.json, so that tests run under the very feature flags of a deployment. */
const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));

/**
 * The app of a configuration; bundling is left out unless asked for, as few tests look at the code.
 */
export function app(
  bagAdres: Record<string, unknown> = {},
  { bundle = false, context: more = {} }: { bundle?: boolean; context?: object } = {},
) {
  process.env.CDK_VALIDATION = 'false';
  return bagAdresApp({
    outdir: mkdtempSync(join(assemblies, 'app-')),
    // A tenth of a synthesis, and read by nobody.
    treeMetadata: false,
    context: {
      ...context,
      // Which line made a construct is of no interest to a test, and costs a fifth of a synthesis
      // inside Jest.
      'aws:cdk:disable-creation-stack-traces': true,
      // Of warnings tests read the assembly; nobody reads them on the terminal.
      '@aws-cdk/core:annotationsInValidationReport': false,
      bagAdres,
      ...(bundle ? {} : { 'aws:cdk:bundling-stacks': [] }),
      ...more,
    },
  });
}
