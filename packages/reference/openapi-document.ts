import json from '../../docs/openapi.json' with { type: 'json' };
import objectsPatch from '../../docs/openapi-objecten.json' with { type: 'json' };
import { offeredHere } from '../../lambdas/http/offered.ts';
import { hasDocs } from '../../lambdas/http/published.ts';
import type { Branding } from './branding.ts';
import { type Descriptions, paragraphNames } from './text/en.ts';

type Example = { summary: string; value: unknown };
type Header = { description: string; schema: { const?: string }; example?: string };
type SchemaReference = { $ref: string };
type MediaTypes = Record<string, { examples?: Record<string, Example> }>;
type Response = SchemaReference | { headers: Record<string, SchemaReference>; content?: MediaTypes };
type Operation = {
  operationId: string;
  summary: string;
  description: string;
  parameters?: { name: string; required?: boolean; description: string; examples?: Record<string, Example> }[];
  requestBody?: { content: MediaTypes };
  responses: Record<string, Response>;
  /** `[]` where no key is needed. */
  security?: [];
  'x-codeSamples'?: { label: string; source: string }[];
};
type Document = {
  info: { title: string; summary: string; version: string; description: string; contact: { name: string } };
  servers: { url: string }[];
  paths: Record<string, Partial<Record<'get' | 'post', Operation>>>;
  'x-elsewhere': Record<string, SchemaReference>;
  'x-changes': { version: string; date?: string; changes: string[] }[];
  components: { headers: Record<string, Header>; responses: Record<string, Exclude<Response, SchemaReference>> };
};

/** The published OpenAPI document, with the types of the parts that the page shows. */
export const openApiDocument = (offeredHere().includes('objecten') ? merged(json, objectsPatch) : json) as Document;

/** What a JSON merge patch (RFC 7396) that removes nothing makes of a document. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(target) || !isObject(patch)) return patch;
  const changed = Object.entries(patch).map(([name, value]) => [name, merged(target[name], value)]);
  return { ...target, ...Object.fromEntries(changed) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The document of a deployment: an absolute server first, which some generators require, and whom to contact. */
export function deployedDocument(baseUrl: string, branding: Branding): object {
  const { name = openApiDocument.info.contact.name, contactUrl, contactEmail, terms } = branding;
  const url = contactUrl ?? (hasDocs() ? `${baseUrl}/docs` : undefined);
  const [relative] = openApiDocument.servers;
  return {
    ...openApiDocument,
    info: {
      ...openApiDocument.info,
      ...(terms && { termsOfService: terms }),
      contact: { name, ...(url && { url }), ...(contactEmail && { email: contactEmail }) },
    },
    servers: [{ url: `${baseUrl}${relative?.url}` }, ...openApiDocument.servers],
  };
}

/** The operations by their id, with the complete path: `/v1/address`. */
export const operations: Record<string, Operation & { method: string; path: string }> = Object.fromEntries(
  Object.entries(openApiDocument.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, found]) => [
      found.operationId,
      { ...found, method: method.toUpperCase(), path: `${openApiDocument.servers[0]?.url}${path}` },
    ]),
  ),
);

/** An operation by its id. @throws Error when the document has none with it */
export function operation(id: string) {
  const found = operations[id];
  if (!found) throw new Error(`the OpenAPI document has no operation ${id}`);
  return found;
}

/** The example of a body that an operation takes, by its name. */
export function requestExample(id: string, name: string): unknown {
  return operation(id).requestBody?.content['application/json']?.examples?.[name]?.value;
}

/** The examples of the response with this status, by name. */
export function responseExamples(id: string, status: string): Record<string, Example> {
  const response = operation(id).responses[status];
  return Object.assign({}, ...Object.values(contentOf(response)).map(({ examples }) => examples));
}

/** The path and query of an example of the lookup, by its name. */
export function exampleUrl(name: string): string {
  const { path, parameters = [] } = operation('lookUpAddress');
  const given = parameters.flatMap(({ name: parameter, examples }) =>
    examples?.[name] ? [[parameter, String(examples[name].value)] as [string, string]] : [],
  );
  return `${path}?${new URLSearchParams(given)}`;
}

/** Each header with where it occurs: paths for a 200 or 304, statuses for problems, nothing for every response. */
export function headerRows(): { name: string; header: Header; at: string[] }[] {
  const everywhere = new Set(Object.keys(openApiDocument.components.responses.NotFound?.headers ?? {}));
  const places = new Map<string, { at: Set<string>; component: string }>();
  const all = [...Object.values(operations), { path: '', responses: openApiDocument['x-elsewhere'] }];
  for (const { path, responses } of all) {
    for (const [status, response] of Object.entries(responses)) {
      for (const [name, { $ref }] of Object.entries(resolved(response).headers)) {
        const place = places.get(name) ?? { at: new Set(), component: $ref.split('/').at(-1) ?? '' };
        places.set(name, place);
        if (!everywhere.has(name)) place.at.add(Number(status) < 400 ? path : status);
      }
    }
  }
  return [...places].map(([name, { at, component }]) => {
    const header = openApiDocument.components.headers[component];
    if (!header) throw new Error(`the OpenAPI document has no header ${component}`);
    return { name, header, at: [...at] };
  });
}

/** What the document says in English, by what it is about. */
export function descriptions(): Descriptions {
  const [lead = '', ...rest] = openApiDocument.info.description.split('\n\n').map((text) => text.replaceAll('\n', ' '));
  const paragraphs = paragraphNames.map((name) => {
    const paragraph = rest.find((text) => text.startsWith(`**${name}.** `));
    if (!paragraph) throw new Error(`the introduction has no paragraph "${name}"`);
    return [name, paragraph.slice(`**${name}.** `.length)];
  });
  const parameters = operation('lookUpAddress').parameters ?? [];
  return {
    lead,
    paragraphs: Object.fromEntries(paragraphs),
    parameterForms: Object.fromEntries(parameters.map(({ name, description }) => [name, description])),
    headerMeanings: Object.fromEntries(headerRows().map(({ name, header }) => [name, header.description])),
    exampleTitles: Object.fromEntries(
      Object.entries(responseExamples('lookUpAddress', '200')).map(([name, { summary }]) => [name, summary]),
    ),
    operations: Object.fromEntries(
      Object.values(operations).map(({ operationId, description }) => [operationId, description]),
    ),
  };
}

function contentOf(response: Response | undefined): MediaTypes {
  return response ? (resolved(response).content ?? {}) : {};
}

function resolved(response: Response): Exclude<Response, SchemaReference> {
  if (!('$ref' in response)) return response;
  const target = openApiDocument.components.responses[response.$ref.split('/').at(-1) ?? ''];
  if (!target) throw new Error(`the OpenAPI document has no ${response.$ref}`);
  return target;
}
