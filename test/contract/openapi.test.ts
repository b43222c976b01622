import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { StoreUnavailable } from '../../core/dynamodb.ts';
import { type ProblemCode, problems, problemType } from '../../core/problems.ts';
import { lookupExamples, validationExample } from '../../tools/openapi/answers.ts';
import { batchExample } from '../../tools/openapi/batch.ts';
import { createOpenApiDocument } from '../../tools/openapi/reference.ts';
import { newAccount } from '../support/address-service.ts';
import { startHttpService } from '../support/http-service.ts';
import { startForTests } from '../support/start-for-tests.ts';

const service = startForTests(startHttpService);
let key: string;

beforeAll(async () => {
  ({ key } = await newAccount(service, { minute: 1000, month: null }));
});

type Examples = Record<string, { value: unknown }>;
type Document = {
  paths: Record<
    string,
    { get: { parameters?: { name: string; examples: Examples }[]; responses: Responses } }
  >;
  components: { responses: Responses };
};
type Responses = Record<string, { content: Record<string, { examples: Examples }> }>;

async function file(): Promise<Document> {
  return JSON.parse(await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
}

/** The document as a deployment without branding publishes it. */
function deployed<Described extends object>(document: Described) {
  const { info, servers } = document as unknown as { info: { contact: object }; servers: object[] };
  const contact = { ...info.contact, url: `${service.baseUrl}/docs` };
  const absolute = { url: `${service.baseUrl}/v1` };
  return { ...document, info: { ...info, contact }, servers: [absolute, ...servers] };
}

function lookUp(query: Record<string, unknown>, apiKey = key) {
  const parameters = Object.entries(query).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return service.send(`/v1/address?${new URLSearchParams(parameters)}`, {
    headers: { 'X-API-Key': apiKey },
  });
}

function many(body: string, contentType = 'application/json') {
  return { method: 'POST', headers: { 'X-API-Key': key, 'Content-Type': contentType }, body };
}

describe('the OpenAPI document', () => {
  it('is the same as generated from the schemas, as a file, and as published without a key', async () => {
    const generated = JSON.parse(JSON.stringify(createOpenApiDocument()));
    expect(await file()).toEqual(generated);
    const { status, json, headers } = await service.send('/v1/openapi.json');
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(json).toEqual(deployed(generated));
  });

  it('offers no objects, nor does a page, where the operator has not turned them on', async () => {
    const pages = ['en', 'nl'].flatMap((language) =>
      ['/docs', '/problems/include-empty', '/problems/include-unavailable'].map(
        (path) => `${path}?lang=${language}`,
      ),
    );
    for (const path of ['/v1/openapi.json', ...pages]) {
      const { body } = await service.send(path);
      expect([path, /objecten|AdresObject/.test(body)]).toEqual([path, false]);
    }
  });

  it('is compressed for a client that accepts gzip, and plain for any other', async () => {
    const lengths: number[] = [];
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['br, GZIP;q=0.5', 'gzip'],
      ['identity', undefined],
      ['gzip;q=0', undefined],
    ] as const) {
      const { headers, json } = await service.send('/v1/openapi.json', {
        headers: { 'accept-encoding': accepted },
      });
      expect([accepted, headers['content-encoding'], headers.vary]).toEqual([
        accepted,
        encoding,
        'Accept-Encoding',
      ]);
      expect(json).toEqual(deployed(await file()));
      lengths.push(Number(headers['content-length']));
    }
    expect(lengths[0]).toBeLessThan((lengths[2] ?? 0) / 3);
  });

  it('is not sent again to a client that has its ETag, nor is a page', async () => {
    for (const path of ['/v1/openapi.json', '/problems/invalid-input', '/docs?lang=nl']) {
      const { etag = '' } = (await service.send(path)).headers;
      for (const condition of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
        const { status, body, headers } = await service.send(path, {
          headers: { 'if-none-match': condition },
        });
        expect([condition, status, body, headers.etag]).toEqual([condition, 304, '', etag]);
      }
      expect((await service.send(path, { headers: { 'if-none-match': 'W/"other"' } })).status).toBe(
        200,
      );
    }
  });

  it.each(Object.keys(lookupExamples))(
    'has the example of the lookup %s that the service returns for the demo data',
    async (name) => {
      const operation = (await file()).paths['/address']?.get;
      const given = (operation?.parameters ?? []).flatMap(({ name: parameter, examples }) =>
        examples[name] ? [[parameter, examples[name].value]] : [],
      );
      const { json } = await lookUp(Object.fromEntries(given));
      expect(json).toEqual(
        operation?.responses['200']?.content['application/json']?.examples[name]?.value,
      );
    },
  );

  it('has the example of many lookups that the service returns for the demo data', async () => {
    const operation = createOpenApiDocument().paths?.['/addresses']?.post;
    expect(operation?.requestBody).toMatchObject({
      content: { 'application/json': { examples: { many: { value: batchExample.body } } } },
    });
    const { json } = await service.send('/v1/addresses', many(JSON.stringify(batchExample.body)));
    expect(json).toEqual(batchExample.answer);
  });

  it('has the example of a validation that the service returns', async () => {
    await service.admin.plans.put({ code: 'standard', limits: validationExample.limits });
    await service.admin.accounts.create({ id: 'example', plan: 'standard' });
    const { key } = await service.admin.keys.create({ account: 'example', label: 'webshop' });
    const { json } = await service.send('/v1/auth/validate', { headers: { 'X-API-Key': key } });
    const { responses } = (await file()).paths['/auth/validate']?.get ?? {};
    expect(json).toEqual(responses?.['200']?.content['application/json']?.examples.valid?.value);
  });

  it.each(Object.keys(problems) as ProblemCode[])(
    'has the example of the problem %s that the service returns',
    async (code) => {
      const answer = await provoke[code]();
      const contents = Object.values((await file()).components.responses).map(
        ({ content }) => content,
      );
      const example = contents
        .map((content) => content['application/problem+json']?.examples[code])
        .find(Boolean);
      expect(answer.status).toBe(problems[code].status);
      expect(answer.json).toMatchObject({ type: problemType(code) });
      expect({ ...(answer.json as object), request_id: '' }).toEqual({
        ...(example?.value as object),
        request_id: '',
      });
    },
  );
});

const query = { postcode: '1012RJ', huisnummer: 147 };

/** Requests that meet each problem. */
const provoke: Record<ProblemCode, () => ReturnType<typeof lookUp>> = {
  unauthorized: () => lookUp(query, 'not a key'),
  'account-inactive': async () => {
    const account = await newAccount(service, { day: 10 });
    await service.admin.accounts.suspend(account.id);
    return await lookUp(query, account.key);
  },
  'plan-inactive': async () => {
    const account = await newAccount(service, { day: 10 });
    await service.admin.plans.put({ code: account.plan, limits: { day: 10 }, state: 'inactive' });
    return await lookUp(query, account.key);
  },
  'not-found': () => service.send('/v1/postcodes'),
  'method-not-allowed': () => service.send('/v1/address', { method: 'POST' }),
  'content-too-large': () => service.send('/v1/addresses', many('a'.repeat(64 * 1024 + 1))),
  'unsupported-media-type': () => service.send('/v1/addresses', many('{}', 'text/plain')),
  'invalid-input': () => lookUp({ postcode: '0123AB', huisnummer: '12A' }),
  'quota-exceeded': async () => await lookUp(query, (await newAccount(service, { minute: 0 })).key),
  'internal-error': () => withFault(new Error('a fault of ours')),
  'temporarily-unavailable': () => withFault(new StoreUnavailable('no answer')),
};

async function withFault(error: Error) {
  service.faults.failing = error;
  try {
    return await lookUp(query);
  } finally {
    delete service.faults.failing;
  }
}
