import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { eventSource } from '../../core/event-types.ts';
import { isFullSweep } from './sweep.ts';

/** The published schema of events. */
export const eventSchema = JSON.parse(
  readFileSync(new URL('../../docs/events.schema.json', import.meta.url), 'utf8'),
) as {
  oneOf: {
    properties: {
      'detail-type': { const?: string; enum?: string[] };
      detail: { required: string[] };
    };
  }[];
};

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: isFullSweep });
formats.default(ajv);
const validate = ajv.compile(eventSchema);

/** What the published schema says against an event, as paths and sentences. */
export function faultsOfEvent(type: string, detail: unknown): string[] {
  validate({ source: eventSource, 'detail-type': type, detail });
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
