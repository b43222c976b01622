import type { JsonObject } from './json.ts';

/** A JSONata machine of these states, beginning with the first. */
export function tinyMachine<T extends Record<string, unknown>>(states: T, more: Record<string, unknown> = {}) {
  return { QueryLanguage: 'JSONata', StartAt: Object.keys(states)[0], States: states, ...more };
}

/** A Task that calls the function with the payload. */
export function invoke(name: string, payload: unknown = '{% $states.input %}', more: Record<string, unknown> = {}) {
  const Arguments = { FunctionName: name, Payload: payload } as JsonObject;
  return { Type: 'Task', Resource: 'arn:aws:states:::lambda:invoke', Arguments, End: true, ...more };
}
