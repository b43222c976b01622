import { stripTypeScriptTypes } from 'node:module';

/**
 * Jest runs the sources as Node does: types are blanked out in place, so lines and columns stay.
 */
export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
