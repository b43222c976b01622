import { startForTests } from '../support/start-for-tests.ts';
import '../support/with-objects.ts';
import { describe, expect, it } from '@jest/globals';
import { availableIncludes, includeNames } from '../../core/place-fields.ts';
import { OpenApi } from '../../packages/reference/openapi-document.ts';
import { objectsExample } from '../../tools/openapi/answers.ts';
import { createOpenApiDocument } from '../../tools/openapi/reference.ts';
import { newAccount } from '../support/address-service.ts';
import { htmlText } from '../support/html-text.ts';
import { startHttpService } from '../support/http-service.ts';

const service = startForTests(startHttpService);

describe('the reference of a deployment with objects', () => {
  it('has the document that is generated with them, which the published patch makes of the one without', async () => {
    const generated = JSON.parse(JSON.stringify(createOpenApiDocument(true)));
    expect(new OpenApi(availableIncludes(true)).document).toEqual(generated);
    const { json } = await service.send('/v1/openapi.json');
    expect(json).toMatchObject({ paths: generated.paths, components: generated.components });
  });

  it('has an example that the service returns, on the page too', async () => {
    const { key } = await newAccount(service, { day: 10 });
    const { query, answer } = objectsExample.objects as (typeof objectsExample)[string];
    const parameters = Object.entries(query).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const { json } = await service.send(`/v1/address?${new URLSearchParams(parameters)}`, {
      headers: { 'X-API-Key': key },
    });
    expect(json).toEqual(answer);
    const text = htmlText((await service.send('/docs?lang=en')).body);
    expect(text).toContain('With the objects');
    expect(text).toContain('"identificatie": "9999010000000021"');
  });

  it.each(['en', 'nl'])('offers to include them, in %s', async (language) => {
    const text = htmlText((await service.send(`/docs?lang=${language}`)).body);
    expect(text).toContain(includeNames.join(', '));
    expect(text).toMatch(/objecten, (the|de) verblijfsobjecten, ligplaatsen/);
    expect(
      htmlText((await service.send(`/problems/include-empty?lang=${language}`)).body),
    ).toContain(', objecten, ');
  });
});
