import type { Answer } from './api.ts';
import { type Check, demand } from './check.ts';

const section = 'every answer';

/** Of each answer that any other check got: these come last. */
export const everyAnswerChecks: Check[] = [
  each('must not be stored, sniffed or fetched without TLS', ({ headers }) => {
    if (!/\bno-store\b/.test(headers['cache-control'] ?? '')) return `Cache-Control is ${headers['cache-control']}`;
    if (headers['x-content-type-options'] !== 'nosniff') return 'X-Content-Type-Options is not nosniff';
    const lasting = /max-age=[1-9]/.test(headers['strict-transport-security'] ?? '');
    return lasting ? null : `Strict-Transport-Security is ${headers['strict-transport-security']}`;
  }),
  each('names the version of the interface', ({ headers: { 'api-version': version = '' } }) =>
    /^\d+\.\d+\.\d+$/.test(version) ? null : `API-Version is "${version}"`,
  ),
  each('is for servers only: no CORS headers', ({ headers }) => {
    const cors = Object.keys(headers).find((name) => name.startsWith('access-control-'));
    return cors === undefined ? null : `has ${cors}`;
  }),
  each('keeps to itself what is inside', ({ status, headers }) => {
    if (status >= 500) return `status ${status}`;
    return headers['x-powered-by'] === undefined ? null : 'has X-Powered-By';
  }),
  each('comes within five seconds', ({ milliseconds }) =>
    milliseconds < 5_000 ? null : `took ${Math.round(milliseconds)} ms`,
  ),
  {
    section,
    title: 'has a request id of its own, which a problem repeats',
    async run({ api }) {
      const seen = new Set<string>();
      for (const { asked, headers, json } of api.answers) {
        const id = headers['x-request-id'] ?? '';
        demand(id !== '', `${asked}: no X-Request-Id`);
        demand(!seen.has(id), `${asked}: X-Request-Id ${id} was given before`);
        demand(
          json?.request_id === undefined || json.request_id === id,
          `${asked}: request_id is another than X-Request-Id`,
        );
        seen.add(id);
      }
    },
  },
  {
    section,
    title: 'never repeats the key',
    async run({ api, options }) {
      for (const { asked, headers, text } of api.answers) {
        demand(!(text + JSON.stringify(headers)).includes(options.key), `${asked}: the answer holds the key`);
      }
    },
  },
];

function each(title: string, fault: (answer: Answer) => string | null): Check {
  return {
    section,
    title,
    async run({ api }) {
      const faults = api.answers.flatMap((answer) => {
        const found = fault(answer);
        return found === null ? [] : [`${answer.asked}: ${found}`];
      });
      demand(faults.length === 0, `${faults[0]}${faults.length > 1 ? `, and ${faults.length - 1} more` : ''}`);
    },
  };
}
