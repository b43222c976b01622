// What Lambda's runtime for Node does around a handler, by its documented Runtime API: load the module, then take events one
// by one. Errors go to the API in the documented shape, with the type in a header.
import { pathToFileURL } from 'node:url';

const { AWS_LAMBDA_RUNTIME_API, LAMBDA_TASK_ROOT, _HANDLER } = process.env;
const api = `http://${AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;

async function fail(path, error) {
  const shape = { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? '').split('\n') };
  const headers = { 'content-type': 'application/json', 'lambda-runtime-function-error-type': error.name };
  await fetch(`${api}/${path}`, { method: 'POST', headers, body: JSON.stringify(shape) });
}

let handler;
try {
  const [module, name] = _HANDLER.split('.');
  ({ [name]: handler } = await import(pathToFileURL(`${LAMBDA_TASK_ROOT}/${module}.mjs`).href));
} catch (error) {
  await fail('init/error', error);
  process.exit(1);
}

for (;;) {
  const next = await fetch(`${api}/invocation/next`);
  const id = next.headers.get('lambda-runtime-aws-request-id');
  try {
    const result = await handler(await next.json(), { awsRequestId: id, getRemainingTimeInMillis: () => 5000 });
    await fetch(`${api}/invocation/${id}/response`, { method: 'POST', body: JSON.stringify(result ?? null) });
  } catch (error) {
    await fail(`invocation/${id}/error`, error);
  }
}
