import type { OpenApi } from './openapi-document.ts';

/**
 * A Postman collection (format 2.1) with a request for each example; whoever imports it sets the
 * key.
 */
export function postmanCollection(api: OpenApi, baseUrl: string): object {
  const { title, description } = api.document.info;
  const apikey = { key: 'X-API-Key', value: '{{key}}', in: 'header' };
  return {
    info: {
      name: title,
      description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'apikey',
      apikey: Object.entries(apikey).map(([key, value]) => ({ key, value, type: 'string' })),
    },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'key', value: '' },
    ],
    item: Object.values(api.operations).map(({ operationId, summary }) => ({
      name: summary,
      item: requestsOf(api, operationId),
    })),
  };
}

/** A request for each example of an operation, or one request without parameters. */
function requestsOf(api: OpenApi, id: string): object[] {
  const { method, path, summary, description, parameters = [], security } = api.operation(id);
  const titles = api.responseExamples(id, '200');
  const names = Object.keys(titles).length > 0 ? Object.keys(titles) : [''];
  return names.map((name) => {
    const query = parameters.flatMap(({ name: key, examples }) =>
      examples?.[name] ? [{ key, value: String(examples[name].value) }] : [],
    );
    const body = api.requestExample(id, name);
    const search =
      query.length > 0 ? `?${query.map(({ key, value }) => `${key}=${value}`).join('&')}` : '';
    return {
      name: titles[name]?.summary ?? summary,
      request: {
        method,
        description,
        url: {
          raw: `{{baseUrl}}${path}${search}`,
          host: ['{{baseUrl}}'],
          path: path.slice(1).split('/'),
          query,
        },
        ...(body !== undefined && {
          header: [{ key: 'Content-Type', value: 'application/json' }],
          body: { mode: 'raw', raw: JSON.stringify(body, null, 2) },
        }),
        ...(security?.length === 0 && { auth: { type: 'noauth' } }),
      },
    };
  });
}
