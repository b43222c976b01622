import { access } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { FunctionSettings } from '../lambda/instance.ts';
import type { Resource, StackTemplate } from './assembly.ts';
import { type Evaluate, evaluator, type LocalValues, TemplateError } from './evaluate.ts';

/** What of the deployed application runs on this machine. */
export interface LocalApp {
  readonly tables: readonly TableSettings[];
  readonly routes: readonly { key: string; functionName: string; timeoutMilliseconds: number }[];
  readonly functions: readonly FunctionSettings[];
}

/** A table as `CreateTable` takes it. */
export type TableSettings = z.infer<typeof tableSchema> & { TableName: string };

const tableSchema = z.object({
  KeySchema: z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) })),
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
});

const routeSchema = z.object({ RouteKey: z.string(), Target: z.string() });

const integrationSchema = z.object({
  IntegrationType: z.literal('AWS_PROXY'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0'),
  /** The real gateway's default, and its most. */
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

/** Finds in the templates the tables, the routes of the HTTP API and the functions behind them. */
export async function localApp(stacks: readonly StackTemplate[], local: LocalValues): Promise<LocalApp> {
  const evaluate = evaluator(stacks, local);
  const tables = ofType(stacks, /^AWS::DynamoDB::(?:Global)?Table$/).map(({ id, stack, resource }) => ({
    ...read(tableSchema, resource, id, stack, evaluate),
    TableName: local.tableName(id),
  }));
  const routes = ofType(stacks, /^AWS::ApiGatewayV2::Route$/).map(({ id, stack, resource }) => {
    const route = read(routeSchema, resource, id, stack, evaluate);
    const integrationId = route.Target.replace(/^integrations\//, '');
    const integration = stack.resources[integrationId];
    if (integration === undefined) throw new TemplateError(`The route ${route.RouteKey} has no integration`);
    const { IntegrationUri, TimeoutInMillis } = read(integrationSchema, integration, integrationId, stack, evaluate);
    const functionName = IntegrationUri.replace(/^.*:function:/, '').replace(/\/invocations$/, '');
    return { key: route.RouteKey, functionName, timeoutMilliseconds: TimeoutInMillis };
  });
  const behindRoutes = new Set(routes.map(({ functionName }) => functionName));
  const functions = ofType(stacks, /^AWS::Lambda::Function$/).filter(({ id }) => behindRoutes.has(id));
  return {
    tables,
    routes,
    functions: await Promise.all(functions.map((found) => functionSettings(found, evaluate))),
  };
}

interface Found {
  readonly id: string;
  readonly stack: StackTemplate;
  readonly resource: Resource;
}

async function functionSettings({ id, stack, resource }: Found, evaluate: Evaluate): Promise<FunctionSettings> {
  const found = read(functionSchema, resource, id, stack, evaluate);
  const code = stack.assets.get(found.Code.S3Key.replace(/\.zip$/, ''));
  if (code === undefined) throw new TemplateError(`The code of ${id} is not in the synthesized assets`);
  const [file = 'index', handler = 'handler'] = found.Handler.split('.');
  return {
    name: id,
    module: await moduleFile(code, file),
    handler,
    environment: found.Environment.Variables,
    timeoutMilliseconds: found.Timeout * 1000,
    memoryMegabytes: found.MemorySize,
  };
}

async function moduleFile(folder: string, name: string): Promise<string> {
  for (const extension of ['.mjs', '.js', '.cjs']) {
    const file = join(folder, name + extension);
    const exists = await access(file).then(
      () => true,
      () => false,
    );
    if (exists) return file;
  }
  throw new TemplateError(`There is no module ${name} in ${folder}`);
}

function ofType(stacks: readonly StackTemplate[], type: RegExp): Found[] {
  return stacks.flatMap((stack) =>
    Object.entries(stack.resources)
      .filter(([, { Type }]) => type.test(Type))
      .map(([id, resource]) => ({ id, stack, resource })),
  );
}

/** Only the properties that the schema names are evaluated: the others may hold what nothing here understands. */
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
  throw new TemplateError(`${id} in the template is not as expected: ${z.prettifyError(result.error)}`);
}
