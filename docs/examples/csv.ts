// Checks the addresses in a CSV file, and writes the same rows with what the register has of each:
// node csv.ts customers.csv --out checked.csv --postcode Postcode --huisnummer Huisnummer
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, Node 24 or newer, and two packages:
// npm install --save-exact csv-parse@7.0.3 csv-stringify@6.9.0
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';

const usage = `node csv.ts FILE --out FILE --postcode COLUMN --huisnummer COLUMN
  --toevoeging COLUMN  again for a second column: a huisletter and a toevoeging are joined
  --delimiter ";"      between columns; the one of the first line unless given
  --encoding NAME      windows-1252 for a file that Excel saved as CSV, but not as CSV UTF-8
  --prefix bag_        begins the names of the added columns
  --wait 3600          the longest wait for a limit in seconds; beyond it, the program ends`;

type Place = { straat: string; woonplaats: string };
type Answer = { toevoegingen: (string | null)[] } & (
  | { status: 'ok'; address: Place }
  | { status: 'not_found' }
  | { status: 'ambiguous'; candidates: Place[] }
);
type Address = { postcode: string; huisnummer: string; toevoeging: string };
type Fault = { pointer?: string; detail: string };
/** API Gateway's own refusals have only a `message`. */
type Problem = { title?: string; detail?: string; errors?: Fault[]; message?: string };
/** The values of the added columns. */
type Added = [status: string, straat: string, woonplaats: string, more: string, detail: string];
/** How much of the output is complete, noted after each call: a killed run continues there. */
type Progress = { of: string; rows: number; bytes: number; counts: Record<string, number> };

const mostAddresses = 100;
const byteOrderMark = '\ufeff';
/** Said if it stops. */
let stopped = '';
const { file, out, longestWait, ...options } = readOptions();
const partFile = `${out}.part`;
const progressFile = `${out}.progress`;
/** The addresses in a call; fewer once a limit is known that allows no more. */
let callSize = mostAddresses;

// A file with the key often ends with a line end.
const baseUrl = process.env.BAG_ADRES_URL?.trim();
const key = process.env.BAG_ADRES_KEY?.trim();
if (!baseUrl || !key) fail('Set BAG_ADRES_URL and BAG_ADRES_KEY.');
if (!/^bagadres_[\w.-]+$/.test(key)) fail('BAG_ADRES_KEY is not an API key.');
const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
const url = `${baseUrl.replace(/\/+$/, '')}/v1/addresses`;

function fail(message: string): never {
  console.error(`${message}${stopped}`);
  process.exit(1);
}

function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        out: text,
        postcode: text,
        huisnummer: text,
        toevoeging: { type: 'string', multiple: true, default: [] },
        delimiter: text,
        encoding: { type: 'string', default: 'utf-8' },
        prefix: { type: 'string', default: 'bag_' },
        wait: { type: 'string', default: '3600' },
      },
    });
    const { out, postcode, huisnummer, wait, ...others } = values;
    const [file, ...more] = positionals;
    if (!file || more.length > 0 || !out || !postcode || !huisnummer || !(Number(wait) >= 0)) {
      fail(usage);
    }
    return { ...others, file, out, postcode, huisnummer, longestWait: Number(wait) };
  } catch (error) {
    fail(`${(error as Error).message}\n${usage}`);
  }
}

async function checkFile(): Promise<void> {
  if (fs.existsSync(out)) fail(`${out} exists. Remove it, or choose another with --out.`);
  const { text, hash } = readText();
  const format = formatOf(text);
  const [header = [], ...rows] = recordsOf(text, format.delimiter);
  const columns = columnsOf(header, rows);
  const before = readProgress(hash);
  const output = fs.openSync(partFile, before ? 'r+' : 'w');
  const progress: Progress = before ?? { of: hash, rows: 0, bytes: 0, counts: {} };
  // A killed run may have written more than it noted.
  fs.ftruncateSync(output, progress.bytes);
  const again = `at most ${mostAddresses} addresses, those of the call under way, are paid again`;
  console.error(
    before
      ? `Continues after row ${progress.rows} of ${rows.length}: ${again}.`
      : `${rows.length} rows. If this stops, run the same command again: it continues, and ${again}.`,
  );

  function write(records: string[][], mark = ''): void {
    const { delimiter, lineEnd } = format;
    // Quotes stand only where they are needed.
    const csv = stringify(records, {
      delimiter,
      record_delimiter: lineEnd,
      quoted_match: /[\r\n]/,
    });
    const bytes = Buffer.from(mark + csv);
    for (let at = 0; at < bytes.length; ) {
      at += fs.writeSync(output, bytes, at, bytes.length - at, progress.bytes + at);
    }
    fs.fsyncSync(output);
    progress.bytes += bytes.length;
    // The file is replaced at once, so that there always is a whole one.
    fs.writeFileSync(`${progressFile}.new`, JSON.stringify(progress), { flush: true });
    fs.renameSync(`${progressFile}.new`, progressFile);
  }

  if (!before) write([[...header, ...addedColumns()]], format.mark);
  const tell = progressTeller(progress.rows, rows.length);
  while (progress.rows < rows.length) {
    stopped = `\nStopped after row ${progress.rows} of ${rows.length}. Run the same command again to continue.`;
    const next = rows.slice(progress.rows, progress.rows + callSize);
    const added = await check(next.map((row) => addressOf(row, columns)));
    for (const [status] of added) progress.counts[status] = (progress.counts[status] ?? 0) + 1;
    progress.rows += next.length;
    const empty = (row: string[]) => Array<string>(header.length - row.length).fill('');
    write(next.map((row, i) => [...row, ...empty(row), ...(added[i] as Added)]));
    tell(progress.rows);
  }
  fs.closeSync(output);
  fs.renameSync(partFile, out);
  fs.rmSync(progressFile);
  const counts = Object.entries(progress.counts).map(([status, count]) => `, ${count} ${status}`);
  console.error(`${out}: ${rows.length} rows${counts.join('')}.`);
}

function readText(): { text: string; hash: string } {
  let bytes: Buffer;
  try {
    bytes = fs.readFileSync(file);
  } catch (error) {
    fail((error as Error).message);
  }
  const hash = createHash('sha256').update(bytes).update(JSON.stringify(options)).digest('hex');
  try {
    const decoder = new TextDecoder(options.encoding, { fatal: true, ignoreBOM: true });
    return { text: decoder.decode(bytes), hash };
  } catch {
    fail(
      `${file} is not ${options.encoding}. If Excel saved it as CSV, add: --encoding windows-1252`,
    );
  }
}

/** The delimiter and the line end of the first line, and the mark by which Excel knows UTF-8. */
function formatOf(text: string): { delimiter: string; lineEnd: string; mark: string } {
  const firstLine = text.split('\n', 1)[0] ?? '';
  const names = firstLine.replaceAll(/"[^"]*"/g, '');
  const countOf = (delimiter: string) => names.split(delimiter).length;
  const [likely = ';'] = [';', ',', '\t'].toSorted((a, b) => countOf(b) - countOf(a));
  return {
    delimiter: options.delimiter ?? likely,
    lineEnd: firstLine.endsWith('\r') ? '\r\n' : '\n',
    mark: text.startsWith(byteOrderMark) || options.encoding !== 'utf-8' ? byteOrderMark : '',
  };
}

/** The header and the rows; empty lines are left out. */
function recordsOf(text: string, delimiter: string): string[][] {
  try {
    return parse(text, {
      delimiter,
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
  } catch (error) {
    fail(`${file} is not a CSV file: ${(error as Error).message}`);
  }
}

const addedColumns = () =>
  ['status', 'straat', 'woonplaats', 'toevoegingen', 'detail'].map((name) => options.prefix + name);

type Columns = { postcode: number; huisnummer: number; toevoeging: number[] };

function columnsOf(header: string[], rows: string[][]): Columns {
  const indexOf = (name: string) => {
    const index = header.indexOf(name);
    if (index < 0) fail(`${file} has no column ${name}. It has: ${header.join(', ')}`);
    return index;
  };
  const taken = addedColumns().find((name) => header.includes(name));
  if (taken) fail(`${file} has a column ${taken} already. Choose another --prefix.`);
  const long = rows.findIndex((row) => row.length > header.length);
  if (long >= 0) {
    fail(
      `Row ${long + 1} of ${file} has ${rows[long]?.length} columns, and the first line ${header.length}. Correct it, or choose another --delimiter.`,
    );
  }
  return {
    postcode: indexOf(options.postcode),
    huisnummer: indexOf(options.huisnummer),
    toevoeging: options.toevoeging.map(indexOf),
  };
}

function addressOf(row: string[], { postcode, huisnummer, toevoeging }: Columns): Address {
  const textAt = (column: number) => row[column]?.trim() ?? '';
  return {
    postcode: textAt(postcode),
    huisnummer: textAt(huisnummer),
    toevoeging: toevoeging.map(textAt).join(''),
  };
}

function readProgress(hash: string): Progress | undefined {
  if (!fs.existsSync(progressFile) || !fs.existsSync(partFile)) return undefined;
  const progress: Progress = JSON.parse(fs.readFileSync(progressFile, 'utf8'));
  if (progress.of === hash) return progress;
  fail(
    `${partFile} belongs to another ${file} or other options. Use those again to continue, or remove ${progressFile} to begin anew: what is done is then paid again.`,
  );
}

/** Says how far it is: on a terminal in one line, else every five seconds. */
function progressTeller(firstRow: number, total: number): (rows: number) => void {
  const started = performance.now();
  let saidAt = Number.NEGATIVE_INFINITY;
  return (rows) => {
    const now = performance.now();
    const { isTTY } = process.stderr;
    if (!isTTY && now - saidAt < 5000 && rows < total) return;
    saidAt = now;
    const rate = (rows - firstRow) / ((now - started) / 1000);
    const line = `${rows} of ${total} rows, ${Math.round(rate)} a second, ${Math.ceil((total - rows) / rate)} s left`;
    process.stderr.write(isTTY ? `\r${line}\u001b[K${rows < total ? '' : '\n'}` : `${line}\n`);
  };
}

/** Looks the addresses up; those whose input is invalid cost nothing. */
async function check(addresses: Address[]): Promise<Added[]> {
  const answer = addresses.length > callSize ? { most: callSize } : await send(addresses);
  if ('results' in answer) return answer.results.map(addedFor);
  if ('most' in answer) {
    const first = await check(addresses.slice(0, answer.most));
    return [...first, ...(await check(addresses.slice(answer.most)))];
  }
  const details = addresses.map((_, i) =>
    answer.faults
      .filter(({ pointer = '' }) => `${pointer}/`.startsWith(`/addresses/${i}/`))
      .map(({ detail }) => detail)
      .join(' '),
  );
  const valid = addresses.filter((_, i) => details[i] === '');
  if (valid.length === addresses.length) {
    fail(`The service refuses a call: ${answer.faults.map(({ detail }) => detail).join(' ')}`);
  }
  const others = valid.length > 0 ? await check(valid) : [];
  return details.map((detail) =>
    detail === '' ? (others.shift() as Added) : ['invalid', '', '', '', detail],
  );
}

function addedFor(answer: Answer): Added {
  const more = answer.toevoegingen.map((toevoeging) => toevoeging ?? 'none').join(', ');
  if (answer.status === 'ok') {
    return ['ok', answer.address.straat, answer.address.woonplaats, more, ''];
  }
  if (answer.status === 'not_found') return ['not_found', '', '', more, ''];
  const places = answer.candidates.map(({ straat, woonplaats }) => `${straat}, ${woonplaats}`);
  return ['ambiguous', '', '', more, places.join('; ')];
}

type CallAnswer = { results: Answer[] } | { faults: Fault[] } | { most: number };

/**
 * Sends a call: one at a time, so that at most one is paid again. Waits after 429 and 503 as
 * Retry-After says, and after 500 or no response a growing pause.
 */
async function send(addresses: Address[], triesLeft = 5, pauseSeconds = 1): Promise<CallAnswer> {
  const body = JSON.stringify({ addresses, include: ['toevoegingen'] });
  let response: Response | undefined;
  let answer: { results?: Answer[] } & Problem = {};
  try {
    // A redirect would take the key along.
    response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(30_000),
    });
    answer = (await response.json()) ?? {};
  } catch {
    // Its message is not printed: it could contain the key.
  }
  const { status = 0 } = response ?? {};
  if (status === 200 && answer.results?.length === addresses.length) {
    return { results: answer.results };
  }
  if (status === 422 && answer.errors) return { faults: answer.errors };
  if (status === 413 && addresses.length > 1) return { most: Math.ceil(addresses.length / 2) };
  if (status === 413) return { faults: [{ pointer: '/addresses/0', detail: 'too large to send' }] };
  const retryAfter = response?.headers.get('Retry-After');
  const wait = Number(retryAfter ?? pauseSeconds);
  if (status === 429) {
    const most = smallestLimit(response?.headers.get('RateLimit-Policy') ?? '');
    if (most === 0) fail('A limit of this key or its account is 0, so it can look nothing up.');
    if (most < addresses.length) {
      callSize = most;
      return { most };
    }
    if (wait > longestWait) {
      const at = new Date(Date.now() + wait * 1000).toLocaleString();
      fail(`A limit is reached until ${at}, which is longer than --wait ${longestWait}.`);
    }
    console.error(`A limit is reached: waits ${wait} s.`);
  } else if (![0, 500, 503].includes(status) || triesLeft === 0) {
    const { title, detail, message = 'no valid response: check BAG_ADRES_URL' } = answer;
    const reason = title ? `${title}: ${detail}` : message;
    fail(status === 0 ? 'No response: check BAG_ADRES_URL.' : `${status} ${reason}`);
  } else {
    console.error(
      `${status === 0 ? 'No response' : status}: tries again in ${wait} s. The ${addresses.length} addresses may have been counted.`,
    );
  }
  await sleep(wait * 1000);
  const isLimit = status === 429 && retryAfter !== null;
  return send(
    addresses,
    status === 429 ? triesLeft : triesLeft - 1,
    isLimit ? 1 : Math.min(60, 2 * pauseSeconds),
  );
}

/** The smallest limit of a policy such as `"minute";q=60;w=60, "day";q=5000;w=86400`. */
function smallestLimit(policy: string): number {
  return Math.min(...[...policy.matchAll(/;q=(\d+)/g)].map(([, limit]) => Number(limit)));
}

await checkFile();
