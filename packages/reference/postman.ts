import { openApiDocument, operation, operations, requestExample, responseExamples } from './openapi-document.ts';

/** A Postman collection (format 2.1) with a request for each example; whoever imports it sets the key. */
export function postmanCollection(baseUrl: string): object {
  const { title, description } = openApiDocument.info;
  const apikey = { key: 'X-API-Key', value: '{{key}}', in: 'header' };
  return {
    info: {
      name: title,
      description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'apikey', apikey: Object.entries(apikey).map(([key, value]) => ({ key, value, type: 'string' })) },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'key', value: '' },
    ],
    item: Object.keys(operations).map((id) => ({ name: operation(id).summary, item: requestsOf(id) })),
  };
}

/** A request for each example of an operation, or the one that takes nothing. */
function requestsOf(id: string): object[] {
  const { method, path, description, parameters = [], security } = operation(id);
  const titles = responseExamples(id, '200');
  const names = Object.keys(titles).length > 0 ? Object.keys(titles) : [''];
  return names.map((name) => {
    const query = parameters.flatMap(({ name: key, examples }) =>
      examples?.[name] ? [{ key, value: String(examples[name].value) }] : [],
    );
    const body = requestExample(id, name);
    const search = query.length > 0 ? `?${query.map(({ key, value }) => `${key}=${value}`).join('&')}` : '';
    return {
      name: titles[name]?.summary ?? operation(id).summary,
      request: {
        method,
        description,
        url: { raw: `{{baseUrl}}${path}${search}`, host: ['{{baseUrl}}'], path: path.slice(1).split('/'), query },
        ...(body !== undefined && {
          header: [{ key: 'Content-Type', value: 'application/json' }],
          body: { mode: 'raw', raw: JSON.stringify(body, null, 2) },
        }),
        ...(security?.length === 0 && { auth: { type: 'noauth' } }),
      },
    };
  });
}
