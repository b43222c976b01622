import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { environment } from '../../core/environment.ts';
import type { Answer } from '../../lambdas/http/middleware.ts';
import { writeBundle } from '../../lib/shared/bundle.ts';
import { bundles } from '../../lib/shared/bundles.ts';
import { expectContract } from '../support/contract.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';

const branding = {
  name: 'Example & Co',
  colour: '#ffd400',
  contactUrl: 'https://www.example.nl/support?a&b',
  contactEmail: 'support@example.nl',
  terms: 'https://www.example.nl/terms',
  privacy: 'https://www.example.nl/privacy',
};
const portalUrl = 'https://portal.example.nl';

const folder = folderForNow('reference-');
let handler: (event: object, context: object) => Promise<Answer>;

/**
 * The function behind `$default` as it is deployed; what it publishes needs no table, so none is
 * there.
 */
beforeAll(async () => {
  await mkdir(join(folder, 'bundle'));
  const { entries, files } = bundles.Validate;
  const logo = 'docs/portal/keys.png';
  writeBundle('Validate', { entries, files: { ...files, logo } }, join(folder, 'bundle'));
  process.env[environment.branding] = JSON.stringify({
    ...branding,
    logoType: 'image/png',
    portalUrl,
  });
  process.env[environment.accountsTable] = 'none';
  ({ handler } = await import(pathToFileURL(join(folder, 'bundle/index.mjs')).href));
});

async function send(path: string, method = 'GET') {
  const {
    statusCode = 0,
    headers,
    body = '',
  } = await handler(gatewayEvent(path, { method }), lambdaContext);
  expectContract(method, path, { status: statusCode, headers, body });
  return { status: statusCode, body };
}

describe('the deployed function', () => {
  it('publishes the OpenAPI document of the repository with its own address first and its own contact, without a key', async () => {
    const { body } = await send('/v1/openapi.json');
    const { info, servers, ...document } = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
    const { name, contactUrl: url, contactEmail: email, terms } = branding;
    expect(JSON.parse(body)).toEqual({
      ...document,
      info: { ...info, termsOfService: terms, contact: { name, url, email } },
      servers: [{ url: 'https://api.example.nl/v1' }, ...servers],
    });
  });

  it('shows who runs it on every page, with links to support, terms, privacy and the portal', async () => {
    const image = (await readFile('docs/portal/keys.png')).toString('base64').slice(0, 100);
    for (const path of ['/docs?lang=en', '/problems/missing']) {
      const { body } = await send(path);
      for (const shown of [
        ' - Example &amp; Co</title>',
        '--brand:#ffd400',
        `<img src="data:image/png;base64,${image}`,
        'href="https://www.example.nl/support?a&amp;b">Contact<',
        'href="mailto:support@example.nl"',
        `href="${branding.terms}">Terms of service<`,
        `href="${branding.privacy}">Privacy<`,
        `href="${portalUrl}">My keys and usage<`,
      ]) {
        expect(body).toContain(shown);
      }
    }
    expect((await send('/docs?lang=nl')).body).toContain('Snel beginnen');
  });

  it('publishes the problem pages, and a 404 for an unknown one', async () => {
    expect((await send('/problems/invalid-input')).body).toContain('What to do');
    expect((await send('/problems/unknown')).status).toBe(404);
    expect((await send('/problems/invalid-input', 'POST')).status).toBe(405);
  });
});
