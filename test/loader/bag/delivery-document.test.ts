import { expect, it } from '@jest/globals';
import { deliveryFile, findDeliveryDocument } from '../../../loader/bag/delivery-document.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import { listEntries } from '../../../loader/zip/zip.ts';
import { mutationDeliveryXml } from '../../support/mutation-delivery.ts';
import { zipOf } from './zip-of.ts';

it.each([
  ['of a municipality', '0457', ['0457']],
  ['of the whole country', null, []],
])(
  'a delivery of mutations %s says its period, its date and its area',
  async (_, of, gemeenten) => {
    const vanaf = '2026-01-08';
    const tot = '2026-01-09';
    const zip = bufferAccess(await zipOf({ [deliveryFile]: mutationDeliveryXml(vanaf, tot, of) }));
    expect(await findDeliveryDocument(zip, await listEntries(zip, 'a.zip'), 'a.zip')).toEqual({
      variant: 'MUT-Extract',
      standTechnischeDatum: tot,
      vanaf,
      tot,
      gemeenten,
    });
  },
);
