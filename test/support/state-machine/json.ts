/** What states pass on to each other. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

/** The most bytes of JSON that a state takes, gives or assigns at once (256 KiB). */
export const payloadLimit = 262_144;

/** The size that the payload limit counts: bytes of UTF-8. */
export function jsonBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A deep copy as JSON carries it over; `undefined` becomes `null`, as a Lambda's missing answer does. */
export function asJson(value: unknown): Json {
  const text = JSON.stringify(value);
  return text === undefined ? null : (JSON.parse(text) as Json);
}

/** Whether the value is a JSON object, so neither an array nor `null`. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
