import { ConfigError } from './config-error.ts';

/** The context key of the record; `-c bagAdres.stage=test` sets one field of it on the command line. */
const KEY = 'bagAdres';

/** What `cdk cli-telemetry` and `cdk acknowledge` note of their own in `cdk.context.json`. */
const toolKeys = new Set(['cli-telemetry', 'acknowledged-issue-numbers']);

/**
 * The raw configuration in a CDK context: the record, with the single fields of the command line over it. The CDK's own
 * keys hold a slash or a colon, but for two; any other is a mistake, for which this throws ConfigError.
 */
export function readContext(context: Record<string, unknown>): unknown {
  const strangers = Object.keys(context).filter((key) => !/[/:]|^bagAdres($|\.)/.test(key) && !toolKeys.has(key));
  if (strangers.length > 0)
    throw new ConfigError(
      strangers.map((key) => `${key} is not known. Allowed: fields of ${KEY}, ${KEY}.stage for instance.`),
    );
  const given = context[KEY] ?? {};
  const overrides = Object.entries(context).filter(([key]) => key.startsWith(`${KEY}.`));
  if (overrides.length === 0 || typeof given !== 'object' || given === null) return given;
  const record: Record<string, unknown> = structuredClone({ ...given });
  for (const [key, value] of overrides) assign(record, key.slice(KEY.length + 1).split('.'), literal(value));
  return record;
}

function assign(record: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    record[name] = value;
    return;
  }
  const inner = record[name];
  const child = typeof inner === 'object' && inner !== null ? { ...inner } : {};
  record[name] = child;
  assign(child as Record<string, unknown>, rest, value);
}

/** On the command line everything is text: `30` and `true` mean what they mean in JSON. */
function literal(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
