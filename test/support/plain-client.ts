import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import * as sdk from '@aws-sdk/client-dynamodb';
import { placeholderSignature } from './dynamodb.ts';

type Json = Record<string, unknown>;
type ErrorClass = new (options: Json) => Error;
const errors = sdk as unknown as Record<string, ErrorClass>;

/**
 * Lets a client of the embedded engine send each command as one plain HTTP request. It returns and
 * throws the same, and retries as before; it lacks the schemas, signatures and user agents of the
 * SDK, which are most of the CPU of a call.
 */
export function sendPlainly(client: sdk.DynamoDBClient, endpoint: string, maxSockets = 50): void {
  const agent = new Agent({ keepAlive: true, maxSockets });
  const { middlewareStack, destroy } = client;
  client.destroy = () => {
    agent.destroy();
    destroy.call(client);
  };
  for (const entry of middlewareStack.identify()) {
    const [name = ''] = entry.split(' ');
    if (name !== 'retryMiddleware') middlewareStack.remove(name);
  }
  // Named like what they replace, since the document client puts its own before these.
  middlewareStack.add((next) => (args) => next({ ...args, request: args.input }), {
    step: 'serialize',
    name: 'serializerMiddleware',
  });
  middlewareStack.add(
    (_, { commandName = '', __smithy_context }) =>
      async ({ input }) => {
        const { abortSignal: signal } = (__smithy_context ?? {}) as { abortSignal?: AbortSignal };
        const target = `DynamoDB_20120810.${commandName.replace(/Command$/, '')}`;
        const { status, body: sent } = await post(endpoint, {
          agent,
          headers: {
            ...placeholderSignature,
            'content-type': 'application/x-amz-json-1.0',
            'x-amz-target': target,
          },
          body: JSON.stringify(input, withBytesAsText),
          ...(signal && { signal }),
        });
        const body = readBody(sent);
        const $metadata = { httpStatusCode: status };
        if (status !== 200) throw errorOf(body, $metadata);
        return { response: undefined, output: { ...body, $metadata } };
      },
    { step: 'deserialize', name: 'deserializerMiddleware' },
  );
}

type Post = { agent: Agent; headers: Record<string, string>; body: string; signal?: AbortSignal };

/** @throws AbortError as the SDK's HTTP handler does, or the error of the connection */
function post(
  endpoint: string,
  { agent, headers, body, signal }: Post,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = { ...headers, 'content-length': Buffer.byteLength(body) };
    const call = request(
      endpoint,
      { method: 'POST', agent, headers: sent },
      (response: IncomingMessage) => {
        text(response).then(
          (received) => resolve({ status: response.statusCode ?? 0, body: received }),
          reject,
        );
      },
    );
    const abort = () =>
      call.destroy(
        Object.assign(new Error('Request aborted', { cause: signal?.reason }), {
          name: 'AbortError',
        }),
      );
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort);
    call.on('error', reject).on('close', () => signal?.removeEventListener('abort', abort));
    call.end(body);
  });
}

function errorOf({ Message, ...body }: Json, $metadata: Json): Error {
  const name = String(body.__type).replace(/^.*#/, '');
  const message = body.message ?? Message;
  const CommonError = sdk.DynamoDBServiceException as unknown as ErrorClass;
  const error = new (errors[name] ?? CommonError)({ name, message, $metadata, $fault: 'client' });
  return Object.assign(error, body);
}

/**
 * A replacer of `JSON.stringify`; it reads the member itself, since a `Buffer` was given to it as
 * its `toJSON`.
 */
function withBytesAsText(this: Json, member: string, value: unknown): unknown {
  const bytes = this[member];
  return ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
    : value;
}

function readBody(body: string): Json {
  const parsed = JSON.parse(body);
  return body.includes('"B":') ? (withBytes(parsed) as Json) : parsed;
}

/** Replaces the text of each binary attribute value by its bytes. */
function withBytes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withBytes);
  if ('B' in value && typeof value.B === 'string') {
    return { B: new Uint8Array(Buffer.from(value.B, 'base64')) };
  }
  for (const [name, member] of Object.entries(value)) (value as Json)[name] = withBytes(member);
  return value;
}
