import * as z from 'zod';
import { loaderEnvironment } from '../../names.ts';
import { addressTable, bucketStorage, lambdaStep, numberSetting, ofLoad, ofOwner } from '../lambda-step.ts';
import { publish } from '../publish.ts';

const places = { storage: bucketStorage(), addresses: addressTable() };
const keep = numberSetting(loaderEnvironment.keepSnapshots, 6);
const input = z.object({ ...ofLoad.shape, ...ofOwner.shape });

/** Ends the load; gives what is served now. */
export const handler = lambdaStep('publish', input, ({ load, owner }) => publish(places, { load, owner, keep }));
