import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import {
  type Evaluate,
  evaluator,
  type LocalValues,
  type Resource,
  type StackTemplate,
  TemplateError,
} from './evaluate.ts';

/** The parts of the application that run on this machine. */
export type LocalApp = {
  readonly tables: readonly TableDefinition[];
  readonly routes: readonly { key: string; functionName: string; timeoutMilliseconds: number }[];
  readonly functions: readonly FunctionSettings[];
};

/** A Lambda function of the template, with its values resolved. */
export type FunctionSettings = {
  readonly name: string;
  /** The absolute path of the module that exports the handler. */
  readonly module: string;
  /** The name of the export. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMilliseconds: number;
  readonly memoryMegabytes: number;
};

/** A table, in the form that `CreateTable` takes. */
export type TableDefinition = z.infer<typeof tableSchema> & { TableName: string };

const tableSchema = z.object({
  KeySchema: z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) })),
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
});

/** The gateway knows no paths with variables. */
const routeSchema = z.object({ RouteKey: z.string().regex(/^[^{]+$/), Target: z.string() });

const integrationSchema = z.object({
  IntegrationType: z.literal('AWS_PROXY'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0'),
  /** API Gateway's default and maximum. */
  TimeoutInMillis: z.number().default(30_000),
});

const functionSchema = z.object({
  Code: z.object({ S3Key: z.string() }),
  Handler: z.string(),
  Environment: z.object({ Variables: z.record(z.string(), z.coerce.string()) }).default({ Variables: {} }),
  /** Lambda's own defaults. */
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
});

/** The tables, the routes of the HTTP API and the functions that they call, as the templates define them. */
export function localApp(stacks: readonly StackTemplate[], local: LocalValues): LocalApp {
  const evaluate = evaluator(stacks, local);
  const tables = ofType(stacks, /^AWS::DynamoDB::(?:Global)?Table$/).map(({ id, stack, resource }) => ({
    ...read(tableSchema, resource, id, stack, evaluate),
    TableName: local.tableName(id),
  }));
  const routes = ofType(stacks, /^AWS::ApiGatewayV2::Route$/).map(({ id, stack, resource }) => {
    const route = read(routeSchema, resource, id, stack, evaluate);
    const integrationId = route.Target.replace(/^integrations\//, '');
    const integration = stack.resources[integrationId];
    if (integration === undefined)
      throw new TemplateError(`The route ${route.RouteKey} refers to an integration that is not in its template`);
    const { IntegrationUri, TimeoutInMillis } = read(integrationSchema, integration, integrationId, stack, evaluate);
    const functionName = IntegrationUri.replace(/^.*:function:/, '').replace(/\/invocations$/, '');
    return { key: route.RouteKey, functionName, timeoutMilliseconds: TimeoutInMillis };
  });
  const behindRoutes = new Set(routes.map(({ functionName }) => functionName));
  const functions = ofType(stacks, /^AWS::Lambda::Function$/).filter(({ id }) => behindRoutes.has(id));
  return {
    tables,
    routes,
    functions: functions.map((found) => functionSettings(found, evaluate)),
  };
}

type Found = {
  readonly id: string;
  readonly stack: StackTemplate;
  readonly resource: Resource;
};

function functionSettings({ id, stack, resource }: Found, evaluate: Evaluate): FunctionSettings {
  const found = read(functionSchema, resource, id, stack, evaluate);
  const code = stack.assets.get(found.Code.S3Key.replace(/\.zip$/, ''));
  if (code === undefined) throw new TemplateError(`The code of the function ${id} is not among the synthesized assets`);
  const [file = 'index', handler = 'handler'] = found.Handler.split('.');
  return {
    name: id,
    // The name that `bundle` gives to a module.
    module: join(code, `${file}.mjs`),
    handler,
    environment: found.Environment.Variables,
    timeoutMilliseconds: found.Timeout * 1000,
    memoryMegabytes: found.MemorySize,
  };
}

function ofType(stacks: readonly StackTemplate[], type: RegExp): Found[] {
  return stacks.flatMap((stack) =>
    Object.entries(stack.resources)
      .filter(([, { Type }]) => type.test(Type))
      .map(([id, resource]) => ({ id, stack, resource })),
  );
}

/** Evaluates only the properties that the schema names: others may use functions that are not supported here. */
function read<Schema extends z.ZodObject>(
  schema: Schema,
  resource: Resource,
  id: string,
  stack: StackTemplate,
  evaluate: Evaluate,
): z.infer<Schema> {
  const wanted = Object.keys(schema.shape).filter((key) => resource.Properties[key] !== undefined);
  const result = schema.safeParse(
    Object.fromEntries(wanted.map((key) => [key, evaluate(resource.Properties[key], stack)])),
  );
  if (result.success) return result.data;
  throw new TemplateError(`The resource ${id} in the template is not as expected: ${z.prettifyError(result.error)}`);
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
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown().optional() })).default({}),
});

const assetsSchema = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string().optional() }) })).default({}),
});

/** Reads every stack of a cloud assembly, which is the folder that `cdk synth` writes. */
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
