import { environment } from '../../core/names.ts';
import { type IncludeName, offeredNames } from '../../core/place-fields.ts';

/** What `include` can name in this deployment; its pages and its document offer the same. */
export function offeredHere(): readonly IncludeName[] {
  return offeredNames(process.env[environment.objecten] === 'on');
}
