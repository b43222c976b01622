import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

/** One stack's synthesized template, and where the packages of its functions lie. */
export interface StackTemplate {
  readonly name: string;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly outputs: Readonly<Record<string, { Value: unknown; Export?: { Name: unknown } | undefined }>>;
  readonly parameters: Readonly<Record<string, { Default?: unknown }>>;
  /** From the asset's hash to its absolute path. */
  readonly assets: ReadonlyMap<string, string>;
}

export interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({ type: z.string(), properties: z.record(z.string(), z.unknown()).optional() }),
  ),
});

const templateSchema = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).default({}) }),
  ),
  Outputs: z
    .record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.unknown() }).optional() }))
    .default({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown().optional() })).default({}),
});

const assetsSchema = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string().optional() }) })).default({}),
});

/** Reads every stack of a cloud assembly, the folder that `cdk synth` writes. */
export async function readAssembly(folder: string): Promise<StackTemplate[]> {
  const manifest = manifestSchema.parse(await json(folder, 'manifest.json'));
  const stacks = Object.entries(manifest.artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  return Promise.all(
    stacks.map(([artifact, { properties = {} }]) =>
      readStack(folder, String(properties.stackName ?? artifact), String(properties.templateFile)),
    ),
  );
}

async function readStack(folder: string, name: string, templateFile: string): Promise<StackTemplate> {
  const template = templateSchema.parse(await json(folder, templateFile));
  const { files } = assetsSchema.parse(await json(folder, templateFile.replace(/\.template\.json$/, '.assets.json')));
  const assets = Object.entries(files).map(([hash, { source }]) => [hash, join(folder, source.path ?? '')] as const);
  return {
    name,
    resources: template.Resources,
    outputs: template.Outputs,
    parameters: template.Parameters,
    assets: new Map(assets),
  };
}

async function json(folder: string, file: string): Promise<unknown> {
  return JSON.parse(await readFile(join(folder, file), 'utf8'));
}
