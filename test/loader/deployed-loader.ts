import { templates } from '../lib/synthesized.ts';
import type { Json, JsonObject } from '../support/state-machine/expressions.ts';
import { type Template, tokenResolver } from '../support/state-machine/resolve-tokens.ts';

/** What stands for the tokens of the loader's stack. */
export type Places = { table: string; bucket: string };

/** The loader as its stack deploys it. */
export type DeployedLoader = {
  /** The name of the state machine. */
  name: string;
  definition: JsonObject;
  /**
   * By the version that the definition calls, `LOGICAL_ID:1`: the step, which names the handler,
   * and the environment of the Lambda.
   */
  functions: Record<string, { step: string; environment: Record<string, string> }>;
  /** What each step may do, and `machine`: `s3:GetObject` on `snapshots/loads/*`. */
  permissions: Record<string, Permission[]>;
};

/** One action on one resource, of which `*` is any part. */
export type Permission = { action: string; resource: string };

type Statement = { Effect: string; Action: string | string[]; Resource: Json; Condition?: Json };

/** The state machine and the Lambdas of the synthesized stack, with real places for the tokens. */
export async function deployedLoader(
  bagAdres: Record<string, unknown>,
  places: Places,
): Promise<DeployedLoader> {
  const template = (await templates(bagAdres)).loader as Template;
  const rename = (name: string) => {
    if (/^Snapshots[0-9A-F]{8}$/.test(name)) return places.bucket;
    const { Type, Properties = {} } = template.Resources[name] ?? {};
    if (Type === 'AWS::Lambda::Version') {
      return `${(Properties.FunctionName as { Ref: string }).Ref}:1`;
    }
    return /(Ref|GetAtt)Addresses[0-9A-F]{8}/.test(name) ? places.table : name;
  };
  const isMachine = (id: string) =>
    template.Resources[id]?.Type === 'AWS::StepFunctions::StateMachine';
  const [name = '', ...others] = Object.keys(template.Resources).filter(isMachine);
  if (others.length > 0) throw new Error(`The loader has more state machines: ${others}.`);
  const resolve = tokenResolver(rename);
  const definition = JSON.parse(
    String(resolve(template.Resources[name]?.Properties?.DefinitionString)),
  );
  const functions: DeployedLoader['functions'] = {};
  const role = (id: string, property: string) =>
    String(resolve(template.Resources[id]?.Properties?.[property]));
  const permissions = { machine: permissionsOf(template, role(name, 'RoleArn'), resolve) };
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    const [, step] = /^Steps(\w+)Function[0-9A-F]{8}$/.exec(id) ?? [];
    if (Type !== 'AWS::Lambda::Function' || step === undefined) continue;
    const { Variables = {} } = (Properties?.Environment ?? {}) as { Variables?: object };
    Object.assign(permissions, {
      [step.toLowerCase()]: permissionsOf(template, role(id, 'Role'), resolve),
    });
    functions[`${id}:1`] = {
      step: step.toLowerCase(),
      environment: resolve(Variables) as Record<string, string>,
    };
  }
  return { name, definition, functions, permissions };
}

function permissionsOf(
  { Resources }: Template,
  role: string,
  resolve: (value: unknown) => Json,
): Permission[] {
  return Object.values(Resources).flatMap(({ Type, Properties = {} }) => {
    if (Type !== 'AWS::IAM::Policy' || !(Properties.Roles as Json[]).map(resolve).includes(role)) {
      return [];
    }
    const { Statement } = resolve(Properties.PolicyDocument as Json) as unknown as {
      Statement: Statement[];
    };
    return Statement.flatMap(({ Effect, Action, Resource, Condition }) => {
      if (Effect !== 'Allow' || Condition !== undefined) {
        throw new Error(`${role} has a statement that is not understood.`);
      }
      const resources = [Resource].flat().map(String);
      return [Action]
        .flat()
        .flatMap((action) => resources.map((resource) => ({ action, resource })));
    });
  });
}
