import * as z from 'zod';
import { loaderEnvironment } from '../../names.ts';
import { publish } from '../publish.ts';
import { ofLoad, ofOwner } from './inputs.ts';
import { lambdaStep } from './lambda-step.ts';
import { addressTable, bucketStorage, numberSetting } from './settings.ts';

const places = { storage: bucketStorage(), addresses: addressTable() };
const keep = numberSetting(loaderEnvironment.keepSnapshots, 6);
const input = z.object({ ...ofLoad.shape, ...ofOwner.shape });

/** Ends the load; gives what is served now. */
export const handler = lambdaStep('publish', input, ({ load, owner }) => publish(places, { load, owner, keep }));
