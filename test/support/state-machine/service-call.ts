import type { Integration } from './frame.ts';
import { asJson, isJsonObject, type JsonObject } from './json.ts';

/** What a call may be given: each argument, and whether it has to be there. */
export type Parameters = Readonly<Record<string, 'required' | 'optional'>>;

/** A call of an AWS service with the arguments it is known to take; any other is refused. */
export function serviceCall(parameters: Parameters, call: (parameters: JsonObject) => Promise<unknown>): Integration {
  return {
    check(template) {
      if (!isJsonObject(template)) return ['the Arguments of a service call are an object'];
      const unknown = Object.keys(template).filter((name) => !parameters[name]);
      const missing = Object.keys(parameters).filter((name) => parameters[name] === 'required' && !(name in template));
      return [
        ...unknown.map((name) => `${name} is no known argument of the call`),
        ...missing.map((name) => `the call needs ${name}`),
      ];
    },
    call: async (values) => asJson(await call(values as JsonObject)),
  };
}
