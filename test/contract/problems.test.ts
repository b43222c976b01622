import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { faultCodes } from '../../core/contract.ts';
import { availableIncludes } from '../../core/place-fields.ts';
import { problems, problemType } from '../../core/problems.ts';
import type { ExplainedCode } from '../../packages/reference/text/en.ts';
import { textsIn } from '../../packages/reference/text/texts.ts';
import { withGeneratedParts } from '../../tools/openapi/reference.ts';
import { htmlText } from '../support/html-text.ts';
import { startHttpService } from '../support/http-service.ts';
import { startForTests } from '../support/start-for-tests.ts';

const service = startForTests(startHttpService);

const { explanations } = textsIn('en', availableIncludes(false));
const types = Object.keys(problems).map((code) => problemType(code as keyof typeof problems));
const faults = faultCodes.map((code) => `/problems/${code}`);

describe('the page of a problem', () => {
  it.each([...types, ...faults])(
    '%s explains without a key what happened and what to do',
    async (path) => {
      const code = path.replace('/problems/', '') as ExplainedCode;
      const { status, headers, body } = await service.send(path);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      const text = htmlText(body);
      expect(text).toContain(code);
      const [happened, remedy] = explanations[code];
      expect(text).toContain(happened.replaceAll('`', ''));
      expect(text).toContain(remedy.replaceAll('`', ''));
    },
  );

  it('loads no subresources and runs no scripts', async () => {
    const { body, headers } = await service.send('/problems/invalid-input');
    expect(body).not.toMatch(
      /<(script|img|iframe)|<link(?! rel="icon" href="data:)|src=|url\(|https?:/,
    );
    expect(headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('links from invalid input to each of its codes', async () => {
    const { body } = await service.send(problemType('invalid-input'));
    for (const code of faultCodes) {
      expect(body).toContain(`<dt id="${code}"><a href="/problems/${code}?lang=en">`);
    }
  });

  it('links to its place in the reference, in the same language', async () => {
    const { body } = await service.send('/problems/huisnummer-range?lang=nl');
    expect(body).toContain('<a href="/docs?lang=nl#error-huisnummer-range">API-documentatie</a>');
    expect((await service.send('/docs?lang=nl')).body).toContain('id="error-huisnummer-range"');
  });

  it('is at the type of a real response', async () => {
    const answer = await service.send('/v1/address');
    const { type } = answer.json as { type: string };
    expect(
      (await service.send(new URL(type, `${service.baseUrl}/v1/address`).pathname)).status,
    ).toBe(200);
  });

  it('does not exist at another path, by any method, and answers only GET', async () => {
    const others = [
      '/problems/',
      '/problems',
      '/problems/unknown',
      '/problems/toString',
      '/problems/missing/',
    ];
    for (const path of others) {
      for (const method of ['GET', 'DELETE']) {
        expect((await service.send(path, { method })).status).toBe(404);
      }
    }
    const refused = await service.send('/problems/missing', { method: 'DELETE' });
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET']);
  });
});

describe('the reference', () => {
  it('lists each problem with its page', async () => {
    const markdown = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
    expect(markdown).toBe(withGeneratedParts(markdown));
    for (const code of Object.keys(explanations)) {
      expect(markdown).toMatch(new RegExp(`\n- \`/problems/${code}\`: |a 422: .*\`${code}\``));
    }
  });
});
