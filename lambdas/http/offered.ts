import { type Environment, environment } from '../../core/names.ts';
import { type IncludeName, offeredNames } from '../../core/place-fields.ts';

/** What `include` can name in a deployment; its pages and its document offer the same. */
export function offeredIn(variables: Environment): readonly IncludeName[] {
  return offeredNames(variables[environment.objecten] === 'on');
}
