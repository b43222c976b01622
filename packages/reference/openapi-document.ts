import type { IncludeName } from '../../core/place-fields.ts';
import json from '../../docs/openapi.json' with { type: 'json' };
import objectsPatch from '../../docs/openapi-objecten.json' with { type: 'json' };
import { type BodyMember, BodyMembers, type Schema } from './body-members.ts';
import type { Branding } from './branding.ts';
import { type Descriptions, paragraphNames } from './text/en.ts';

type Example = { summary: string; value: unknown };
type Header = { description: string; schema: { const?: string }; example?: string };
type SchemaReference = { $ref: string };
type MediaTypes = Record<string, { schema: Schema; examples?: Record<string, Example> }>;
type Response =
  | SchemaReference
  | { headers: Record<string, SchemaReference>; content?: MediaTypes };
type Operation = {
  operationId: string;
  summary: string;
  description: string;
  parameters?: {
    name: string;
    required?: boolean;
    description: string;
    examples?: Record<string, Example>;
  }[];
  requestBody?: { content: MediaTypes };
  responses: Record<string, Response>;
  /** `[]` where no key is needed. */
  security?: [];
  'x-codeSamples'?: { label: string; source: string }[];
};
type Document = {
  info: {
    title: string;
    summary: string;
    version: string;
    description: string;
    contact: { name: string };
  };
  servers: { url: string }[];
  paths: Record<string, Partial<Record<'get' | 'post', Operation>>>;
  'x-elsewhere': Record<string, SchemaReference>;
  'x-changes': { version: string; date?: string; changes: string[] }[];
  components: {
    headers: Record<string, Header>;
    responses: Record<string, Exclude<Response, SchemaReference>>;
    schemas: Record<string, Schema>;
  };
};

/** The result of a JSON merge patch (RFC 7396) that removes nothing from a document. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(target) || !isObject(patch)) return patch;
  const changed = Object.entries(patch).map(([name, value]) => [name, merged(target[name], value)]);
  return { ...target, ...Object.fromEntries(changed) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type CompleteOperation = Operation & { method: string; path: string };

/**
 * The published OpenAPI document of a deployment that offers these names, and the parts that the
 * pages show.
 */
export class OpenApi {
  readonly document: Document;
  /** The operations by their id, with the complete path: `/v1/address`. */
  readonly operations: Record<string, CompleteOperation>;

  constructor(available: readonly IncludeName[]) {
    this.document = (
      available.includes('objecten') ? merged(json, objectsPatch) : json
    ) as Document;
    const { paths, servers } = this.document;
    this.operations = Object.fromEntries(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, found]) => [
          found.operationId,
          { ...found, method: method.toUpperCase(), path: `${servers[0]?.url}${path}` },
        ]),
      ),
    );
  }

  /**
   * The document with an absolute server first, which some generators require, and whom to contact.
   */
  deployedAt(baseUrl: string, branding: Branding, hasDocs: boolean): object {
    const { info, servers } = this.document;
    const { name = info.contact.name, contactUrl, contactEmail, terms } = branding;
    const url = contactUrl ?? (hasDocs ? `${baseUrl}/docs` : undefined);
    const [relative] = servers;
    return {
      ...this.document,
      info: {
        ...info,
        ...(terms && { termsOfService: terms }),
        contact: { name, ...(url && { url }), ...(contactEmail && { email: contactEmail }) },
      },
      servers: [{ url: `${baseUrl}${relative?.url}` }, ...servers],
    };
  }

  /** An operation by its id. @throws Error when the document has none with it */
  operation(id: string): CompleteOperation {
    const found = this.operations[id];
    if (!found) throw new Error(`the OpenAPI document has no operation ${id}`);
    return found;
  }

  /** The example of a body that an operation takes, by its name. */
  requestExample(id: string, name: string): unknown {
    return this.operation(id).requestBody?.content['application/json']?.examples?.[name]?.value;
  }

  /** The members of a body that an operation takes. */
  requestMembers(id: string): BodyMember[] {
    return this.#membersOf([this.operation(id).requestBody?.content ?? {}]);
  }

  /** The members of an operation's answer. */
  answerMembers(id: string): BodyMember[] {
    return this.#membersOf([this.#content(this.operation(id).responses['200'])]);
  }

  /** The members of every problem that an operation may return. */
  problemMembers(): BodyMember[] {
    const responses = Object.values(this.operations).flatMap((operation) =>
      Object.entries(operation.responses),
    );
    return this.#membersOf(
      responses.flatMap(([status, response]) =>
        Number(status) < 400 ? [] : [this.#content(response)],
      ),
    );
  }

  #membersOf(contents: MediaTypes[]): BodyMember[] {
    const types = contents.flatMap((content) => Object.values(content));
    return new BodyMembers(this.document.components.schemas).of(types.map(({ schema }) => schema));
  }

  #content(response: Response | undefined): MediaTypes {
    return response ? (this.#resolved(response).content ?? {}) : {};
  }

  responseExamples(id: string, status: string): Record<string, Example> {
    const content = this.#content(this.operation(id).responses[status]);
    return Object.assign({}, ...Object.values(content).map(({ examples }) => examples));
  }

  /** The path and query of an example of the lookup, by its name. */
  exampleUrl(name: string): string {
    const { path, parameters = [] } = this.operation('lookUpAddress');
    const given = parameters.flatMap(({ name: parameter, examples }) =>
      examples?.[name] ? [[parameter, String(examples[name].value)] as [string, string]] : [],
    );
    return `${path}?${new URLSearchParams(given)}`;
  }

  /**
   * Each header with its places: paths for a 200 or 304, statuses for problems, nothing for every
   * response.
   */
  headerRows(): { name: string; header: Header; at: string[] }[] {
    const { components, 'x-elsewhere': elsewhere } = this.document;
    const everywhere = new Set(Object.keys(components.responses.NotFound?.headers ?? {}));
    const places = new Map<string, { at: Set<string>; component: string }>();
    const all = [...Object.values(this.operations), { path: '', responses: elsewhere }];
    for (const { path, responses } of all) {
      for (const [status, response] of Object.entries(responses)) {
        for (const [name, { $ref }] of Object.entries(this.#resolved(response).headers)) {
          const place = places.get(name) ?? {
            at: new Set(),
            component: $ref.split('/').at(-1) ?? '',
          };
          places.set(name, place);
          if (!everywhere.has(name)) place.at.add(Number(status) < 400 ? path : status);
        }
      }
    }
    return [...places].map(([name, { at, component }]) => {
      const header = components.headers[component];
      if (!header) throw new Error(`the OpenAPI document has no header ${component}`);
      return { name, header, at: [...at] };
    });
  }

  /** The document's descriptions in English, by their subject. */
  descriptions(): Descriptions {
    const { description } = this.document.info;
    const [lead = '', ...rest] = description
      .split('\n\n')
      .map((text) => text.replaceAll('\n', ' '));
    const paragraphs = paragraphNames.map((name) => {
      const paragraph = rest.find((text) => text.startsWith(`**${name}.** `));
      if (!paragraph) throw new Error(`the introduction has no paragraph "${name}"`);
      return [name, paragraph.slice(`**${name}.** `.length)];
    });
    const parameters = this.operation('lookUpAddress').parameters ?? [];
    return {
      lead,
      paragraphs: Object.fromEntries(paragraphs),
      parameterForms: Object.fromEntries(
        parameters.map(({ name, description }) => [name, description]),
      ),
      headerMeanings: Object.fromEntries(
        this.headerRows().map(({ name, header }) => [name, header.description]),
      ),
      exampleTitles: Object.fromEntries(
        Object.entries(this.responseExamples('lookUpAddress', '200')).map(([name, { summary }]) => [
          name,
          summary,
        ]),
      ),
      memberMeanings: Object.fromEntries(
        [
          ...this.requestMembers('lookUpAddresses'),
          ...['lookUpAddress', 'lookUpAddresses', 'validateKey'].flatMap((id) =>
            this.answerMembers(id),
          ),
          ...this.problemMembers(),
        ].flatMap(meaningsOf),
      ),
      operations: Object.fromEntries(
        Object.values(this.operations).map(({ operationId, description }) => [
          operationId,
          description,
        ]),
      ),
    };
  }

  #resolved(response: Response): Exclude<Response, SchemaReference> {
    if (!('$ref' in response)) return response;
    const target = this.document.components.responses[response.$ref.split('/').at(-1) ?? ''];
    if (!target) throw new Error(`the OpenAPI document has no ${response.$ref}`);
    return target;
  }
}

/** The texts on a member and on those within it, by their keys. */
function meaningsOf({ meanings, members }: BodyMember): [key: string, text: string][] {
  const own = meanings.map(({ key, text }): [string, string] => [key, text]);
  return [...own, ...members.flatMap(meaningsOf)];
}
