import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ifMissing, readTemplate } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import type { ComparedTemplate } from './compare-templates.ts';

/** The app beside this file: compiled in a package, TypeScript in a clone. */
const app = resolve(import.meta.dirname, `../../bin/app${extname(import.meta.filename)}`);

/**
 * The templates of a stage as the installed version makes them, by the name of the stack, in the order of their
 * deployment.
 * @throws CommandError with what the app printed
 */
export async function synthesizedTemplates(folder: string, stage: string): Promise<Map<string, ComparedTemplate>> {
  const output = await mkdtemp(join(tmpdir(), 'bag-adres-upgrade-'));
  try {
    const cdk = join(folder, 'cdk.json');
    const context = existsSync(cdk) ? (JSON.parse(readFileSync(cdk, 'utf8')).context ?? {}) : {};
    const env = {
      ...process.env,
      CDK_OUTDIR: output,
      // The code is not compared, so the bundles are not needed.
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, 'bagAdres.stage': stage, 'aws:cdk:bundling-stacks': [] }),
      CDK_VALIDATION: 'false',
    };
    await promisify(execFile)(process.execPath, [app], { cwd: folder, env }).catch((error) => {
      const printed = String(error.stderr).trim() || String(error);
      throw new CommandError('synthesis', printed, { cause: error });
    });
    return templatesIn(output);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** The templates of a folder that `cdk synth` wrote. @throws CommandError if it has none */
export function templatesIn(folder: string): Map<string, ComparedTemplate> {
  const suffix = '.template.json';
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(suffix)) : [];
  if (files.length === 0)
    throw new CommandError(
      'no_templates',
      `${folder} has no templates. Name a folder that "cdk synth" wrote, cdk.out for instance.`,
    );
  const order = ['data', 'service', 'loader', 'portal'];
  const rank = (name: string) => order.findIndex((part) => name.endsWith(`-${part}`));
  return new Map(
    files
      .map((file) => file.slice(0, -suffix.length))
      .sort((a, b) => rank(a) - rank(b))
      .map((name) => [name, JSON.parse(readFileSync(join(folder, `${name}${suffix}`), 'utf8'))]),
  );
}

/** The templates of those of these stacks that are deployed, by name. */
export async function deployedTemplates(names: readonly string[]): Promise<Map<string, ComparedTemplate>> {
  const found = await Promise.all(
    names.map(async (name) => {
      const template = await readTemplate(name).catch(ifMissing);
      return template === undefined ? [] : [[name, JSON.parse(template)] as const];
    }),
  );
  return new Map(found.flat());
}
