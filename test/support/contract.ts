import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { availableIncludesIn } from '../../core/place-fields.ts';
import { OpenApi } from '../../packages/reference/openapi-document.ts';

/** An answer as it came over the wire, or as the Lambda gave it; names of headers in lower case. */
export type ContractAnswer = { status: number; headers: Record<string, string>; body: string };

type Json = { [member: string]: Json } & { $ref?: string };
type Part = { pointer: string; value: Json };

const document = new OpenApi(availableIncludesIn(process.env)).document as object as Json;

/** Headers of the transport, which the document does not describe. */
const transportHeaders = new Set(
  'content-type content-length date connection keep-alive apigw-requestid'.split(' '),
);
/** What is published beside the document, with the headers that every response has. */
const publishedTypes: [path: RegExp, type: string][] = [
  [/^\/(problems\/[^/]+|docs)$/, 'text/html; charset=utf-8'],
  [/^\/docs\.md$/, 'text/markdown; charset=utf-8'],
  [/^\/llms\.txt$/, 'text/plain; charset=utf-8'],
  [/^\/changes\.xml$/, 'application/rss+xml; charset=utf-8'],
  [/^\/favicon\.ico$/, 'image/svg+xml; charset=utf-8'],
  [/^\/(openapi|postman)\.json$/, 'application/json'],
];
const pageHeaders = new Set(['content-security-policy', 'referrer-policy', 'content-language']);

// Without the schema of schemas, which takes a tenth of a second to compile: a test of the document
// checks its schemas.
const ajv = new Ajv2020({ strict: false, allErrors: true, meta: false, validateSchema: false });
formats.default(ajv);
ajv.addSchema(closed(document), 'openapi');

/**
 * Throws, with every reason, unless `docs/openapi.json` describes this answer to `method` on
 * `path`: its status, each of its headers, its content type and its body, without a member that the
 * document does not name.
 */
export function expectContract(method: string, path: string, answer: ContractAnswer): void {
  const type = publishedType(path, answer);
  const faults = type
    ? publishedFaults(type, answer)
    : faultsOf(responseTo(method, path, answer.status), answer);
  if (faults.length === 0) return;
  // A page has 40 KB, under which the reasons would be lost.
  const got = JSON.stringify(answer, null, 2).slice(0, 2_000);
  throw new Error(
    `${method} ${path} is not answered as docs/openapi.json says:\n- ${faults.join('\n- ')}\n${got}`,
  );
}

function responseTo(method: string, url: string, status: number): Part | undefined {
  const [path = ''] = url.split('?');
  const pathItem = path.startsWith('/v1/') ? at('/paths', path.slice('/v1'.length)) : undefined;
  const operation =
    pathItem && /^(GET|POST)$/.test(method) && at(pathItem.pointer, method.toLowerCase());
  if (operation) return at(`${operation.pointer}/responses`, String(status));
  const isAllowed = pathItem || publishedTypes.some(([one]) => one.test(path)) ? [404, 405] : [404];
  return isAllowed.includes(status) ? at('/x-elsewhere', String(status)) : undefined;
}

/** API Gateway may rename this header on its way from a Lambda function. */
function restoreRemapped(headers: Record<string, string>): Record<string, string> {
  const { 'x-amzn-remapped-www-authenticate': remapped, ...rest } = headers;
  return remapped === undefined ? headers : { 'www-authenticate': remapped, ...rest };
}

function faultsOf(response: Part | undefined, { status, headers, body }: ContractAnswer): string[] {
  if (!response) return [`status ${status} is not described`];
  if (response.value.content === undefined) {
    return [
      ...headerFaults(response, headers),
      ...(body === '' ? [] : ['a body is not described']),
    ];
  }
  const [contentType = ''] = (headers['content-type'] ?? '').split(';');
  const content = at(`${response.pointer}/content`, contentType);
  if (!content) return [`content type ${contentType} is not described for ${status}`];
  return [
    ...headerFaults(response, restoreRemapped(headers)),
    ...schemaFaults('body', `${content.pointer}/schema`, parsed(body)),
  ];
}

function headerFaults(response: Part, headers: Record<string, string>): string[] {
  const described = Object.keys(response.value.headers ?? {});
  const known = new Set(described.map((name) => name.toLowerCase()));
  const unknown = Object.keys(headers).filter(
    (name) => !known.has(name) && !transportHeaders.has(name),
  );
  return [
    ...unknown.map((name) => `header ${name} is not described`),
    ...described.flatMap((name) => {
      const header = at(`${response.pointer}/headers`, name);
      const value = headers[name.toLowerCase()];
      if (!header) return [`header ${name} leads nowhere in the document`];
      if (value === undefined) return header.value.required ? [`header ${name} is missing`] : [];
      return schemaFaults(`header ${name}`, `${header.pointer}/schema`, value);
    }),
  ];
}

/**
 * Its content type, if this is an answer with what is published; a browser gets a page about a
 * problem that is none.
 */
function publishedType(url: string, { status, headers }: ContractAnswer): string | undefined {
  const [, type] = publishedTypes.find(([path]) => path.test(url.split('?')[0] ?? '')) ?? [];
  const isUnknownProblem =
    status === 404 && headers['content-type'] === type && url.startsWith('/problems/');
  return [200, 304].includes(status) || isUnknownProblem ? type : undefined;
}

function publishedFaults(type: string, { status, headers, body }: ContractAnswer): string[] {
  // The language of a page depends on one more header than the compression of every published
  // document.
  const vary = (headers.vary ?? '').replace(/, Accept-Language$/, '');
  const own = Object.entries({ ...headers, vary }).filter(([name]) => !pageHeaders.has(name));
  const response = at('/paths/~1openapi.json/get/responses', status === 304 ? '304' : '200');
  if (!response) throw new Error('the document describes itself');
  const isContent = status === 304 ? body === '' : headers['content-type'] === type;
  return [
    ...(isContent ? [] : [status === 304 ? 'a body after 304' : `not ${type}`]),
    ...headerFaults(response, Object.fromEntries(own)),
  ];
}

function schemaFaults(what: string, pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(`openapi#${pointer}`);
  if (!validate) throw new Error(`docs/openapi.json has no schema at ${pointer}`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${what}${instancePath} ${message}`,
  );
}

const parts = new Map<string, Part | undefined>();

/** The member `name` of what `pointer` points to, its reference followed. */
function at(pointer: string, name: string): Part | undefined {
  const path = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (!parts.has(path)) parts.set(path, partAt(path));
  return parts.get(path);
}

function partAt(path: string): Part | undefined {
  const value = resolve(path);
  if (value?.$ref === undefined) return value && { pointer: path, value };
  const target = value.$ref.replace(/^#/, '');
  const referred = resolve(target);
  return referred && { pointer: target, value: referred };
}

function resolve(pointer: string): Json | undefined {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<Json | undefined>(
    (part, step) => part?.[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
}

/**
 * The document leaves its objects open, so that members may be added; what we answer today must be
 * in it.
 */
function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, closed(member)]);
  const isObject = 'type' in value && value.type === 'object' && 'properties' in value;
  const isClosed = isObject && !Object.hasOwn(value.properties as object, 'openapi');
  return Object.fromEntries(isClosed ? [...members, ['additionalProperties', false]] : members);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
