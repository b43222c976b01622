import { relative } from 'node:path';
import { defaultDataFolder } from './local-state.ts';
import type { Service } from './service.ts';

/** What `npm start` prints once it serves: lines that work when pasted. */
export function greeting(service: Service, dataFolder: string): string {
  const { baseUrl, apiKey, dataset } = service;
  const { postcode, huisnummer, toevoeging } = dataset.example;
  const query = new URLSearchParams({ postcode, huisnummer: `${huisnummer}`, ...(toevoeging && { toevoeging }) });
  const data = dataFolder === defaultDataFolder ? '' : ` --data ${quoted(dataFolder)}`;
  const folder = relative(process.cwd(), dataFolder) || '.';
  return `
Serving the addresses of ${dataset.report.state} on ${baseUrl}

  curl -H 'X-API-Key: ${apiKey}' '${baseUrl}/v1/address?${query}'
  curl -H 'X-API-Key: ${apiKey}' '${baseUrl}/v1/auth/validate'

Plans, accounts and keys, from another terminal:

  npm run bag-adres -- account show demo --local${data}

The data stays in ${folder} (--fresh begins again); the functions log to ${folder}/functions.log.
Ctrl-C stops everything.
`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
