import { eventSource } from '../../../core/event-types.ts';
import { faultsOfEvent } from '../event-schema.ts';
import { StateError } from './errors.ts';
import type { Integration } from './frame.ts';
import { isJsonObject, type Json } from './json.ts';
import { serviceCall } from './service-call.ts';

/** The resource that `putEvents` stands for. */
export const putEventsArn = 'arn:aws:states:::events:putEvents';

/** An event as EventBridge takes it: its detail is an object. */
export type PutEvent = { source: string; type: string; bus: string | undefined; detail: Record<string, Json> };

/**
 * Puts each event where a test reads it. An entry with another form is an error, as in EventBridge; so is one of ours
 * that is not as `docs/events.schema.json` says.
 */
export function putEvents(put: (event: PutEvent) => void): Integration {
  return serviceCall({ Entries: 'required' }, async ({ Entries }) => {
    if (!Array.isArray(Entries) || Entries.length === 0)
      throw new StateError('EventBridge.ValidationException', 'Entries');
    for (const entry of Entries) {
      const { Source, DetailType, Detail, EventBusName, ...other } = isJsonObject(entry) ? entry : {};
      const isValid = typeof Source === 'string' && typeof DetailType === 'string' && isJsonObject(Detail);
      if (!isValid || Object.keys(other).length > 0)
        throw new StateError('EventBridge.ValidationException', JSON.stringify(entry));
      const faults = Source === eventSource ? faultsOfEvent(DetailType, Detail) : [];
      if (faults.length > 0) throw new Error(`${DetailType} is not as published: ${faults.join(', ')}`);
      put({ source: Source, type: DetailType, bus: EventBusName as string | undefined, detail: Detail });
    }
    return { FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: 'event' })) };
  });
}
