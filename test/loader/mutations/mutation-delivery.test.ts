import { describe, expect, it } from '@jest/globals';
import { deliveryFile } from '../../../loader/bag/delivery-document.ts';
import { readMutationDelivery } from '../../../loader/mutations/mutation-delivery.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import { mutationDeliveryXml } from '../../support/mutation-delivery.ts';
import { zipOf } from '../bag/zip-of.ts';

const vanaf = '2026-01-08';
const tot = '2026-01-09';
const label = 'a.zip';

describe('a delivery of mutations', () => {
  it.each([
    ['no kind', 'x', 'unknown'],
    ['the kind of an extract', 'LVC-Extract', 'LVC-Extract'],
  ])('is refused if its Leveringsdocument has %s', async (_, kind, named) => {
    const document = mutationDeliveryXml(vanaf, tot).replaceAll('MUT-Extract', kind);
    const zip = await zipOf({
      [deliveryFile]: document,
      '9999MUT08012026-09012026.zip': await zipOf({}),
    });
    await expect(readMutationDelivery(bufferAccess(zip), label)).rejects.toMatchObject({
      code: 'invalid_mutations',
      message: expect.stringContaining(
        `${label} > ${deliveryFile}: a delivery of kind ${named}; MUT-Extract is needed`,
      ),
    });
  });
});
