import { type Check, demand } from './check.ts';
import { demandJson, demandProblem, demandStatus } from './demands.ts';

const operations = ['/v1/address', '/v1/auth/validate'];
const query = '?postcode=1012RJ&huisnummer=147';

/** A browser that asks whether it may. */
const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' };

/** Paths and methods beside those of the two operations. */
export const pathChecks: Check[] = [
  {
    section: 'paths and methods',
    title: 'any other path is a 404, a trailing slash too',
    async run({ api }) {
      const others = ['/', '/v1', '/v1/', '/v2/address', '/v1/nothing', '/V1/address', '/v1/addresses'];
      for (const path of [...others, ...operations.map((operation) => `${operation}/`)]) {
        demandProblem(await api.send(path + query), 404, 'not-found');
      }
    },
  },
  {
    section: 'paths and methods',
    title: 'any other method is a 405 that allows GET',
    async run({ api }) {
      for (const path of operations) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
          const answer = await api.send(path + query, { method, headers: preflight });
          if (method === 'HEAD') demandStatus(answer, 405);
          else demandProblem(answer, 405, 'method-not-allowed');
          demand(answer.headers.allow === 'GET', `${answer.asked}: Allow is ${answer.headers.allow}`);
        }
      }
    },
  },
  {
    section: 'paths and methods',
    title: 'the interface publishes its description, without a key, in the version that it says it has',
    async run({ api }) {
      const answer = await api.send('/v1/openapi.json', { key: null });
      demandStatus(answer, 200);
      const { openapi, info } = demandJson(answer, Object.keys(answer.json ?? {})) as Record<
        string,
        { version?: unknown }
      >;
      demand(/^3\./.test(String(openapi)), `${answer.asked}: openapi is ${openapi}`);
      const version = answer.headers['api-version'];
      demand(info?.version === version, `${answer.asked}: describes ${info?.version}, API-Version says ${version}`);
    },
  },
];
