import { lambdaSetting } from '../http/function-setting.ts';
import { createHandler } from './address-handler.ts';

/**
 * What Lambda calls: made at the start of the function, so that a missing variable stops the start,
 * not a request.
 */
export const handler = createHandler(lambdaSetting(process.env));
