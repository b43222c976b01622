import { templates } from '../lib/synthesized.ts';
import type { Json, JsonObject } from '../support/state-machine/json.ts';
import { resolveTokens, type Template, tokenResolver } from '../support/state-machine/resolve-tokens.ts';

/** What stands for the tokens of the loader's stack. */
export type Places = { table: string; bucket: string; topic: string };

/** The loader as its stack deploys it. */
export type DeployedLoader = {
  definition: JsonObject;
  /** By logical id: the step, which names the handler, and the environment of the Lambda. */
  functions: Record<string, { step: string; environment: Record<string, string> }>;
};

/** The state machine and the Lambdas of the synthesized stack, with real places for the tokens. */
export function deployedLoader(bagAdres: Record<string, unknown>, places: Places): DeployedLoader {
  const template = templates(bagAdres).loader as Template;
  const rename = (name: string) => {
    if (/^Snapshots[0-9A-F]{8}$/.test(name)) return places.bucket;
    if (/RefAddresses[0-9A-F]+$/.test(name)) return places.table;
    return /RefAlarms[0-9A-F]+$/.test(name) ? places.topic : name;
  };
  const machines = Object.values(resolveTokens(template, rename));
  if (machines.length !== 1) throw new Error(`The stack of the loader has ${machines.length} state machines.`);
  const resolve = tokenResolver(rename);
  const functions: DeployedLoader['functions'] = {};
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    const [, step] = /^Steps(\w+)Function[0-9A-F]{8}$/.exec(id) ?? [];
    if (Type !== 'AWS::Lambda::Function' || step === undefined) continue;
    const { Variables = {} } = (Properties?.Environment ?? {}) as { Variables?: Json };
    functions[id] = { step: step.toLowerCase(), environment: resolve(Variables) as Record<string, string> };
  }
  return { definition: machines[0] as JsonObject, functions };
}
