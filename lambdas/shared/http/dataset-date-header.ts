import type { DatasetDate } from '../domain/ports.ts';
import type { Middleware } from './event.ts';

/** Tells on each answered lookup of which date the register is that answered it. */
export function datasetDateHeader(datasetDate: DatasetDate): Middleware {
  return {
    after: async ({ response }) => {
      const date = await datasetDate();
      if (response && date) response.headers['dataset-date'] = date;
    },
  };
}
