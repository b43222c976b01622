import { relative } from 'node:path';
import { type LoadReport, notServedText } from '../loader/load-report.ts';
import { defaultDataFolder } from './local-state.ts';
import type { Service } from './service.ts';

/** What `npm start` prints once it serves: lines that work when pasted. */
export function greeting(service: Service, dataFolder: string): string {
  const { baseUrl, apiKey, dataset } = service;
  const { postcode, huisnummer, toevoeging } = dataset.example;
  const query = new URLSearchParams({ postcode, huisnummer: `${huisnummer}`, ...(toevoeging && { toevoeging }) });
  const data = dataFolder === defaultDataFolder ? '' : ` --data ${quoted(dataFolder)}`;
  const below = relative(process.cwd(), dataFolder) || '.';
  const folder = below.startsWith('..') ? dataFolder : below;
  return `${loadedText(dataset.report)}
Serving ${count(dataset.report.keys)} addresses, the register of ${dataset.report.state}, on ${baseUrl}

  curl -H 'X-API-Key: ${apiKey}' '${baseUrl}/v1/address?${query}'
  curl -H 'X-API-Key: ${apiKey}' '${baseUrl}/v1/auth/validate'

The reference, in a browser: ${baseUrl}/docs

Plans, accounts and keys, from another terminal:

  npm run bag-adres -- account show demo --local${data}

The data stays in ${folder} (--fresh begins again); the functions log to ${folder}/functions.log.
Ctrl-C stops everything.
`;
}

/** What was read and written, unless the table held the extract already. */
function loadedText(report: LoadReport): string {
  const { outcome, voorkomens, addresses, keys } = report;
  if (outcome !== 'published') return '';
  return `
Read ${count(voorkomens)} occurrences of nummeraanduidingen: ${count(addresses)} current addresses under ${count(keys)} keys;
${notServedText(report)}
`;
}

const count = (number: number) => number.toLocaleString('en');

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
